//! What kind of work the tools of all agents do, by their names.

use crate::event::Category;

const NAMES: &[(Category, &[&str])] = &[
    (
        Category::Shell,
        &[
            "execute",
            "command_status",
            "send_command_input",
            "bash",
            "shell",
            "shell_command",
            "exec_command",
            "local_shell_call",
            "local_shell",
            "run_shell_command",
            "run_command",
            "run_commands",
            "run_terminal_command",
            "run_terminal_command_v2",
            "execute_bash",
            "developer__shell",
            "execute_command",
            "bashoutput",
            "killshell",
            "powershell",
            "terminal",
            "run_terminal_cmd",
            "container.exec",
            "exec",
        ],
    ),
    (
        Category::Edit,
        &[
            "strreplacefile",
            "strreplace",
            "replace_file_content",
            "multi_replace_file_content",
            "delete_file",
            "delete",
            "code_action",
            "edit",
            "multiedit",
            "notebookedit",
            "apply_patch",
            "applypatch",
            "replace",
            "str_replace",
            "edit_file",
            "search_replace",
            "search_and_replace",
            "insert_content",
            "edit_file_v2",
            "editor",
            "text_editor",
            "developer__text_editor",
            "fs_write",
            "fswrite",
            "strreplace",
            "str_replace_based_edit_tool",
            "replace_in_file",
            "patch",
            "apply_diff",
            "str_replace_editor",
        ],
    ),
    (Category::Write, &["writefile", "write", "write_file", "create_file", "write_to_file", "create"]),
    (
        Category::Read,
        &[
            "readfile",
            "readmediafile",
            "view_file",
            "view_content_chunk",
            "read_currently_open_file",
            "read",
            "read_file",
            "view",
            "view_image",
            "read_files",
            "fs_read",
            "read_file_v2",
            "read_many_files",
            "cat",
            "open_file",
            "notebookread",
        ],
    ),
    (
        Category::Search,
        &[
            "find_by_name",
            "rg",
            "grep",
            "glob",
            "search",
            "search_files",
            "list_files",
            "ls",
            "find",
            "codebase_search",
            "list",
            "list_code_definition_names",
            "find_path",
            "search_codebase",
            "ripgrep_raw_search",
            "glob_file_search",
            "grep_search",
            "file_search",
            "list_directory",
            "search_file_content",
            "list_dir",
            "toolsearch",
        ],
    ),
    (
        Category::Fetch,
        &[
            "fetchurl",
            "searchweb",
            "search_web",
            "read_url_content",
            "webfetch",
            "websearch",
            "web_search",
            "web_fetch",
            "web_search_call",
            "fetch",
            "read_web_page",
            "fetch_web_content",
            "google_web_search",
        ],
    ),
    (
        Category::Task,
        &[
            "todolist",
            "settodolist",
            "set_todo_list",
            "update_todo",
            "todo",
            "report_intent",
            "subagent",
            "enter_plan_mode",
            "exit_plan_mode",
            "task",
            "agent",
            "todowrite",
            "todoread",
            "taskcreate",
            "taskupdate",
            "taskget",
            "tasklist",
            "taskoutput",
            "taskstop",
            "update_plan",
            "update_todo_list",
            "todos",
            "todo_list",
            "todo__write",
            "todo__todo_write",
            "new_task",
            "use_subagent",
            "subagent",
            "write_todos",
            "todo_write",
            "spawn_agent",
            "wait_agent",
            "send_input",
            "exitplanmode",
            "enterplanmode",
            "skill",
            "activate_skill",
        ],
    ),
    (
        Category::Ask,
        &[
            "askuser",
            "notify_user",
            "askquestion",
            "askuserquestion",
            "ask_user",
            "ask_followup_question",
            "request_user_input",
        ],
    ),
];

/// The category of a tool. MCP tools are named `mcp__server__tool` or, in Codex, `server__tool`.
pub(crate) fn category(name: &str) -> Category {
    let lower = name.to_ascii_lowercase();
    if let Some((category, _)) = NAMES.iter().find(|(_, names)| names.contains(&lower.as_str())) {
        return category.clone();
    }
    let server = name.strip_prefix("mcp__").unwrap_or(name).split_once("__").map(|(server, _)| server);
    server
        .filter(|server| !server.is_empty())
        .map_or(Category::Other, |server| Category::Mcp(server.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_fall_into_categories_by_name() {
        for (name, wanted) in [
            ("Bash", "shell"),
            ("exec_command", "shell"),
            ("MultiEdit", "edit"),
            ("apply_patch", "edit"),
            ("Write", "write"),
            ("Grep", "search"),
            ("WebFetch", "fetch"),
            ("Agent", "task"),
            ("AskUserQuestion", "ask"),
            ("mcp__github__list_issues", "mcp:github"),
            ("linear__get", "mcp:linear"),
            ("Frobnicate", "other"),
        ] {
            assert_eq!(category(name).name(), wanted, "{name}");
        }
    }
}
