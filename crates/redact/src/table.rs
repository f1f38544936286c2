//! The rules that are an expression, by what they take out.

use crate::encoded::user_and_password;
use crate::naming::{is_path, is_symbol, is_type};
use crate::noise::{has_odd_separator, is_pattern, is_random_token};
use crate::patterns::Pattern;
use crate::plain::{credential, is_literal, is_placeholder, is_varied, not_a_word};

fn any(_: &str) -> bool {
    true
}

/// A token behind the word for one: long, or letters and digits that name nothing.
fn is_bearer(secret: &str) -> bool {
    let method = ["oauth", "http", "sha", "jwt", "base64", "rfc", "token"];
    let lower = secret.to_ascii_lowercase();
    let short = secret.len() < 16
        && is_literal(secret)
        && is_varied(secret)
        && !method.iter().any(|word| lower.starts_with(word))
        && !is_type(secret)
        && !is_path(secret);
    credential(secret) || short
}

fn either(secret: &str) -> bool {
    credential(secret) || user_and_password(secret)
}

/// A sign within that no word has, or chance.
fn has_odd_separator_or_is_random(secret: &str) -> bool {
    let signs = secret.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !b"._~+/-=".contains(&byte));
    signs && (is_random_token(secret) || has_odd_separator(secret))
}

/// A user's name that chance made.
fn is_user_token(secret: &str) -> bool {
    is_varied(secret) && !is_symbol(secret) && is_literal(secret)
}

/// Even a short password in an address is one, unless it is the word for it.
fn is_password_of_address(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let word = matches!(lower.as_str(), "password" | "passwd" | "pass" | "pwd") || secret.starts_with('[');
    let bare = secret.trim_matches(['[', ']', '(', ')']);
    let name = bare.len() > 3 && bare.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    !word && !name && bare.len() == secret.len() && !is_placeholder(secret)
}

const fn pattern(
    kind: &'static str,
    keyword: &'static str,
    judge: fn(&str) -> bool,
    expression: &'static str,
) -> Pattern {
    Pattern { kind, keyword, expression, before: 0, judge }
}

const fn from_before(mut pattern: Pattern, before: usize) -> Pattern {
    pattern.before = before;
    pattern
}

const PGPASS: &str = r#":(?:[0-9]{4}|\*):(?:\\{1,4}:|\\\\|[^\s:\\]){1,128}:(?:\\{1,4}:|\\\\|[^\s:\\]){1,128}:((?:\\{1,4}:|\\\\|[^\s:\\"']){3,128})(?:[\r\n"']|\\[rn]|$)"#;

/// The rules.
pub(crate) static TABLE: &[Pattern] = &[
    pattern("jwt", "eyJ", any, r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    pattern(
        "url-password",
        "://",
        is_password_of_address,
        r#"://[^\s/:@"'<>`\\]{0,128}:([^\s/@"'<>`$*{}\\][^\s/"'<>`\\]*)@[A-Za-z0-9\[]"#,
    ),
    // A token in the place of the user's name.
    pattern(
        "url-token",
        "://",
        is_user_token,
        r#"://([^\s/:@"'<>`\\$*{}]{16,256})(?::(?:x-oauth-basic)?)?@[A-Za-z0-9\[]"#,
    ),
    pattern(
        "url-password",
        "jdbc:oracle:",
        is_literal,
        r#"jdbc:oracle:[a-z]{2,8}:[^\s/"']{1,64}/([^\s@"']{3,128})@"#,
    ),
    pattern("sendgrid-key", "SG.", any, r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    pattern(
        "slack-webhook",
        "hooks.slack.com/",
        any,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    // Such an address grants writing into the channel. Discord; Teams; Mattermost and Rocket.Chat; Zapier; Google Chat.
    pattern("webhook", "/webhooks/", any, r"/webhooks/[0-9]{5,24}/([A-Za-z0-9._-]{20,})"),
    pattern("webhook", "/IncomingWebhook/", any, r"/(?i:IncomingWebhook)/([A-Za-z0-9/_-]{20,})"),
    pattern(
        "webhook",
        "/hooks/",
        is_hook,
        r"/hooks/([A-Za-z0-9]{17,32}(?:/[A-Za-z0-9]{24,64})?)(?:[^A-Za-z0-9_/-]|$)",
    ),
    pattern("webhook", "/hooks/catch/", any, r"/hooks/catch/[0-9]{1,12}/([A-Za-z0-9]{5,32})"),
    pattern("webhook", "/bot/v2/hook/", any, r"/bot/v2/hook/([A-Za-z0-9-]{16,})"),
    pattern(
        "webhook",
        "chat.googleapis.com/v1/",
        any,
        r#"chat\.googleapis\.com/v1/spaces/[^\s"'/]{1,64}/messages\?([^\s"'`<>)\\]{20,})"#,
    ),
    from_before(pattern("azure-secret", "Q~", any, r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"), 4),
    pattern("azure-key", "AccountKey=", any, r"AccountKey=([A-Za-z0-9+/]{40,}={0,2})"),
    pattern("azure-key", "SharedAccessKey=", any, r"SharedAccessKey=([A-Za-z0-9+/]{40,}={0,2})"),
    from_before(
        pattern("terraform-token", ".atlasv1.", any, r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}"),
        14,
    ),
    from_before(pattern("newrelic-key", "NRAL", any, r"[0-9a-f]{36}NRAL"), 36),
    from_before(pattern("mailchimp-key", "-us", any, r"[0-9a-f]{32}-us[0-9]{1,2}"), 32),
    pattern("airtable-token", "pat", any, r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    pattern("harness-token", "pat.", any, r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    pattern("hubspot-token", "pat-", any, r"pat-(?:na|eu)[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    pattern("resend-key", "re_", is_varied, r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    pattern("zoho-token", "1000.", any, r"1000\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    pattern(
        "onepassword-key",
        "A3-",
        any,
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}",
    ),
    pattern(
        "braintree-token",
        "access_token$",
        any,
        r"access_token\$[a-z]{4,12}\$[a-z0-9]{16}\$[0-9a-f]{32}",
    ),
    from_before(pattern("telegram-token", ":AA", any, r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}"), 10),
    pattern("bearer-token", "bearer ", is_bearer, r"(?i:bearer) +([A-Za-z0-9._~+/-]{8,}=*)"),
    pattern(
        "bearer-token",
        "bearer ",
        has_odd_separator_or_is_random,
        r#"(?i:bearer) +([^\s"'`\\<{\[$%(][^\s"'`\\]{5,})"#,
    ),
    pattern("basic-auth", "basic ", either, r"(?i:basic) +([A-Za-z0-9+/]{8,}={0,2})"),
    pattern(
        "basic-auth",
        "authorization: basic ",
        either,
        r"(?i:authorization: basic) +([A-Za-z0-9+/]{4,}={0,2})",
    ),
    pattern(
        "digest-auth",
        "digest username",
        any,
        r#"(?i:digest) username[^\r\n]*?response=\\{0,3}"?([0-9a-fA-F]{32,128})"#,
    ),
    // A configuration of Docker, npm's `_auth`: the name and the password in one.
    pattern(
        "registry-auth",
        "auth\"",
        user_and_password,
        r#"(?i:auth)"\s{0,8}:\s{0,8}"([A-Za-z0-9+/_-]{6,}={0,2})"#,
    ),
    pattern(
        "registry-auth",
        "auth\\\"",
        user_and_password,
        r#"(?i:auth)\\{1,3}"\s{0,8}:\s{0,8}\\{1,3}"([A-Za-z0-9+/_-]{6,}={0,2})"#,
    ),
    pattern(
        "registry-auth",
        "_auth",
        user_and_password,
        r#"_auth\s{0,4}=\s{0,4}"?([A-Za-z0-9+/_-]{6,}={0,2})"#,
    ),
    pattern("registry-auth", "_auth=", is_varied, r#"_auth=\s{0,4}"?([^\s"'$<>{}\\]{8,})"#),
    pattern(
        "registry-auth",
        "_authToken",
        is_literal,
        r#"_authToken["']?\s{0,4}[= ]\s{0,4}["']?([^\s"'$<>{}\\]{6,})"#,
    ),
    pattern(
        "registry-auth",
        ":_password",
        is_literal,
        r#":_password\s{0,4}[= ]\s{0,4}"?([^\s"'$<>{}\\]{4,})"#,
    ),
    pattern(
        "password",
        "machine ",
        not_a_word,
        r#"machine\s{1,8}[^\s"']+(?:\s{1,8}(?:login|account)\s{1,8}[^\s"']+){1,2}\s{1,8}password\s{1,8}"?([^\s"']{3,})"#,
    ),
    pattern(
        "password",
        "default login ",
        not_a_word,
        r#"default login\s{1,8}[^\s"']+\s{1,8}password\s{1,8}"?([^\s"']{3,})"#,
    ),
    // A line of `.pgpass`: host, port, database, user and the password to the end of the line. A colon has a backslash.
    pattern("password", ":5432:", is_literal, PGPASS),
    pattern("password", ":5433:", is_literal, PGPASS),
    pattern("password", ":6432:", is_literal, PGPASS),
    pattern("password", ":*:", is_literal, PGPASS),
    pattern("password-hash", "$apr1$", any, r"\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"),
    pattern("password-hash", "$2", any, r"\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}"),
    pattern("password-hash", "$5$", any, r"\$5\$[^\s$:]{1,40}\$(?:[^\s$:]{1,40}\$)?[./A-Za-z0-9]{43}"),
    pattern("password-hash", "$6$", any, r"\$6\$[^\s$:]{1,40}\$(?:[^\s$:]{1,40}\$)?[./A-Za-z0-9]{86}"),
    pattern(
        "password-hash",
        "$y$",
        any,
        r"\$y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,64}\$[./A-Za-z0-9]{30,64}",
    ),
    pattern("password-hash", "$argon2", any, r#"\$argon2(?:id|i|d)\$[^\s"':]{20,}"#),
    pattern(
        "password-hash",
        "pbkdf2_sha",
        any,
        r#"pbkdf2_sha[0-9]{1,3}\$[0-9]{3,8}\$[^\s"'$]{4,64}\$[A-Za-z0-9+/=]{20,128}"#,
    ),
    pattern("password-hash", "{SSHA", any, r"\{SSHA[0-9]{0,3}\}[A-Za-z0-9+/]{20,128}={0,2}"),
    // The signature in a signed URL grants its rights to every holder of the URL.
    pattern("signature", "sig=", is_varied, r"sig=([A-Za-z0-9%+/_-]{24,}={0,2})"),
    pattern("signature", "Signature=", is_varied, r"Signature=([A-Za-z0-9%+/_-]{32,}={0,2})"),
    pattern(
        "putty-key",
        "Private-Lines: ",
        any,
        r"Private-Lines: [0-9]{1,4}((?:(?:\r?\n|\\r\\n|\\n)[A-Za-z0-9+/=]{16,80}){1,48})",
    ),
    pattern("putty-key", "Private-MAC: ", any, r"Private-MAC: ([0-9a-f]{40,128})"),
    pattern(
        "secret",
        "variable \"",
        is_literal,
        r#"variable "[^"\n]{0,64}(?i:password|secret|token|key|passphrase)[^"\n]{0,32}"\s{0,4}\{[^}]*?default\s{0,16}=\s{0,4}"([^"\n]{6,})""#,
    ),
    pattern(
        "secret",
        "setx ",
        is_literal,
        r#"setx [^\s"]{0,64}(?i:password|secret|token|key|pwd)[^\s"]{0,16}\s{1,4}(?:"([^"\r\n]{6,})"|([^\s"]{6,}))"#,
    ),
    pattern(
        "secret",
        "SetEnvironmentVariable(",
        is_literal,
        r#"SetEnvironmentVariable\(["'][^"'\n]{0,64}(?i:password|secret|token|key|pwd)[^"'\n]{0,16}["'],\s{0,4}["']([^"'\r\n]{6,})["']"#,
    ),
    pattern(
        "password",
        "ConvertTo-SecureString",
        is_literal,
        r#"ConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?["']([^"'\r\n]{4,})["']"#,
    ),
    pattern(
        "secret",
        "--from-literal",
        is_literal,
        r#"--from-literal[= ]["']?[A-Za-z0-9._-]{1,128}=(?:"([^"\r\n]{3,})"|([^\s"']{3,}))"#,
    ),
    pattern("password", "-pass pass:", is_literal, r#"-pass pass:([^\s"']{3,})"#),
    pattern("password", "-passin pass:", is_literal, r#"-passin pass:([^\s"']{3,})"#),
    pattern("password", "-passout pass:", is_literal, r#"-passout pass:([^\s"']{3,})"#),
    pattern(
        "password",
        "IDENTIFIED BY ",
        is_literal,
        r#"(?:(?i:identified by) (?:PASSWORD )?'([^'\r\n]{4,})'|IDENTIFIED BY (?:PASSWORD )?"([^'"\r\n]{4,})")"#,
    ),
    pattern(
        "password",
        "IDENTIFIED WITH ",
        is_literal,
        r#"(?i:identified with) [A-Za-z0-9_'"]{1,64} (?i:by|as) (?:'([^'\r\n]{4,})'|"([^"\r\n]{4,})")"#,
    ),
    pattern("password", "PASSWORD '", not_code, r"PASSWORD '([^'\r\n]{4,})'"),
    pattern("password", "PASSWORD('", is_literal, r"PASSWORD\('([^'\r\n]{4,})'\)"),
    pattern(
        "password",
        "sqlplus ",
        is_literal,
        r#"sqlplus (?:-[A-Za-z]{1,8} ){0,4}["']?[A-Za-z0-9_]{1,64}/([^\s"'@\\]{3,128})"#,
    ),
    pattern(
        "password",
        "lftp ",
        is_literal,
        r#"lftp [^\r\n]{0,64}?-u ["']?[^\s,"']{1,64},([^\s"'\\]{3,128})"#,
    ),
    pattern("password", "WITH PASSWORD ", is_literal, r#"(?i:with password) ['"]([^'"\r\n]{4,})['"]"#),
];

/// An id with a token, or a name made by chance as Mattermost makes them.
fn is_hook(secret: &str) -> bool {
    secret.contains('/') || secret.len() == 26 && is_varied(secret)
}

fn not_code(secret: &str) -> bool {
    is_literal(secret) && !secret.starts_with(['"', ',', '(']) && !is_pattern(secret)
}
