//! Tokens that are a fixed prefix followed by a run of known characters.

use std::ops::Range;

use crate::boundary::starts_fresh;
use crate::plain::is_varied;

/// One token shape.
#[derive(Debug)]
pub(crate) struct TokenShape {
    /// What it is called in the replacement.
    pub kind: &'static str,
    /// How it begins; also its keyword.
    pub prefix: &'static str,
    chars: fn(u8) -> bool,
    min: usize,
    max: usize,
}

impl TokenShape {
    /// The token that starts at `start`, if it is one.
    pub(crate) fn matches(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let bytes = text.as_bytes();
        let body = bytes.get(start..)?.strip_prefix(self.prefix.as_bytes())?;
        let len = body.iter().take(self.max + 1).take_while(|byte| (self.chars)(**byte)).count();
        let end = start + self.prefix.len() + len;
        let shown = self.prefix.len() + len >= 3 && len <= self.max;
        let within = || !starts_fresh(bytes, start);
        if len < self.min && !shown || len > self.max || within() && !self.is_distinct(&text[start..end], len)
        {
            return None;
        }
        match rest_of_masked(&text[end..]).filter(|_| shown) {
            Some((rest, tail)) if len >= self.min || self.is_masked(&text[start..end], tail) => {
                Some(start..end + rest)
            }
            _ => (len >= self.min).then_some(start..end),
        }
    }

    /// The token that starts at `start`, if it is one in its full length.
    pub(crate) fn matches_whole(&self, text: &str, start: usize) -> Option<Range<usize>> {
        self.matches(text, start).filter(|span| {
            let body = &text.as_bytes()[span.start + self.prefix.len()..span.end];
            body.len() >= self.min && body.iter().take(self.min).all(|byte| (self.chars)(*byte))
        })
    }

    /// Whether this is a key even within a word: no word has its prefix, and what follows is made by chance.
    fn is_distinct(&self, token: &str, len: usize) -> bool {
        let sign = self.prefix.len() >= 4 && self.prefix.ends_with(['-', '_', '.']);
        let own =
            (sign || self.prefix.len() >= 6 || self.prefix == "AIza") && !IN_WORDS.contains(&self.prefix);
        own && len >= self.min && is_varied(&token[self.prefix.len()..])
    }

    /// Whether the end of a key stands behind what hides its middle, and not a word.
    fn is_masked(&self, head: &str, tail: &str) -> bool {
        let body = &head[self.prefix.len()..];
        let digit = tail.bytes().any(|byte| byte.is_ascii_digit());
        let mixed = tail.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
            && tail.bytes().any(|b| b.is_ascii_lowercase());
        let sign = self.prefix.ends_with(['-', '_', '.']) || self.prefix.len() >= 4;
        sign && tail.len() >= 3
            && (digit || mixed || body.len() >= 4 && tail.len() == 4)
            && !tail.to_ascii_lowercase().contains("example")
    }
}

/// What stands in the place of the middle of a key, with the characters behind it: how long both are, and the latter.
fn rest_of_masked(rest: &str) -> Option<(usize, &str)> {
    let tail = rest.trim_start_matches(['.', '…', '*', '•', '●']);
    let hidden = rest.len() - tail.len();
    let len = tail.bytes().take(17).take_while(u8::is_ascii_alphanumeric).count();
    (hidden >= 3 && (2..=16).contains(&len)).then(|| (hidden + len, &tail[..len]))
}

fn alnum(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}
fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
fn url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
fn dotted(byte: u8) -> bool {
    url(byte) || byte == b'.'
}
fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}
fn atlassian(byte: u8) -> bool {
    url(byte) || byte == b'='
}
fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}
fn hex_groups(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || byte == b'-'
}
fn small(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}
fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const ANY: usize = 4096;

/// Prefixes with which words end: `cachekey-`.
const IN_WORDS: &[&str] = &["key-", "pul-", "key_", "secret_", "access-production-", "access-sandbox-"];

const fn shape(
    kind: &'static str,
    prefix: &'static str,
    chars: fn(u8) -> bool,
    min: usize,
    max: usize,
) -> TokenShape {
    TokenShape { kind, prefix, chars, min, max }
}

/// The shapes, by provider.
pub(crate) static SHAPES: &[TokenShape] = &[
    shape("anthropic-key", "sk-ant-", url, 20, ANY),
    shape("openai-key", "sk-proj-", url, 20, ANY),
    shape("openai-key", "sk-svcacct-", url, 20, ANY),
    shape("openai-key", "sk-admin-", url, 20, ANY),
    shape("openai-key", "sk-", alnum, 32, ANY),
    shape("openrouter-key", "sk-or-v1-", hex, 32, ANY),
    shape("github-token", "ghp_", alnum, 30, ANY),
    shape("github-token", "gho_", alnum, 30, ANY),
    shape("github-token", "ghu_", alnum, 30, ANY),
    shape("github-token", "ghs_", alnum, 30, ANY),
    shape("github-token", "ghr_", alnum, 30, ANY),
    shape("github-token", "github_pat_", word, 22, ANY),
    shape("gitlab-token", "glpat-", dotted, 20, ANY),
    shape("gitlab-token", "gldt-", url, 20, ANY),
    shape("gitlab-token", "glrt-", dotted, 20, ANY),
    shape("gitlab-token", "glptt-", url, 20, ANY),
    shape("gitlab-token", "glcbt-", url, 20, ANY),
    shape("slack-token", "xoxa-", url, 10, ANY),
    shape("slack-token", "xoxb-", url, 10, ANY),
    shape("slack-token", "xoxe-", url, 10, ANY),
    shape("slack-token", "xoxe.xox", dotted, 10, ANY),
    shape("slack-token", "xoxo-", url, 10, ANY),
    shape("slack-token", "xoxp-", url, 10, ANY),
    shape("slack-token", "xoxr-", url, 10, ANY),
    shape("slack-token", "xoxs-", url, 10, ANY),
    shape("slack-token", "xapp-", url, 20, ANY),
    shape("aws-key", "AKIA", upper, 16, 16),
    shape("aws-key", "ASIA", upper, 16, 16),
    shape("google-key", "AIza", url, 35, 35),
    shape("google-token", "ya29.", dotted, 20, ANY),
    shape("google-token", "GOCSPX-", url, 20, 40),
    shape("stripe-key", "sk_live_", alnum, 10, ANY),
    shape("stripe-key", "rk_live_", alnum, 10, ANY),
    shape("stripe-key", "sk_test_", alnum, 10, ANY),
    shape("stripe-key", "rk_test_", alnum, 10, ANY),
    shape("stripe-key", "whsec_", base64, 24, ANY),
    shape("npm-token", "npm_", alnum, 36, 36),
    shape("baton-token", "baton_", hex, 64, 64),
    // The secret in the address of a share, which opens a baton or a thread without a token.
    shape("baton-share", "share_", hex, 64, 64),
    shape("pypi-token", "pypi-", url, 50, ANY),
    shape("rubygems-token", "rubygems_", hex, 48, 48),
    shape("docker-token", "dckr_pat_", url, 20, ANY),
    shape("huggingface-token", "hf_", alnum, 30, 64),
    shape("groq-key", "gsk_", alnum, 40, ANY),
    shape("xai-key", "xai-", alnum, 60, ANY),
    shape("perplexity-key", "pplx-", alnum, 40, ANY),
    shape("replicate-token", "r8_", alnum, 37, 40),
    shape("twilio-key", "SK", hex, 32, 32),
    shape("mailgun-key", "key-", hex, 32, 32),
    shape("digitalocean-token", "dop_v1_", hex, 64, 64),
    shape("digitalocean-token", "doo_v1_", hex, 64, 64),
    shape("shopify-token", "shpat_", hex, 32, 32),
    shape("shopify-token", "shpss_", hex, 32, 32),
    shape("linear-key", "lin_api_", alnum, 32, ANY),
    shape("notion-token", "ntn_", alnum, 40, ANY),
    shape("databricks-token", "dapi", hex, 32, 32),
    shape("vault-token", "hvs.", url, 24, ANY),
    shape("grafana-token", "glsa_", word, 32, ANY),
    shape("newrelic-key", "NRAK-", upper, 27, 27),
    shape("age-key", "AGE-SECRET-KEY-1", upper, 58, 58),
    shape("sentry-token", "sntrys_", dotted, 40, ANY),
    shape("supabase-token", "sbp_", hex, 40, 40),
    shape("tailscale-key", "tskey-", url, 20, ANY),
    shape("planetscale-token", "pscale_tkn_", dotted, 32, ANY),
    shape("planetscale-token", "pscale_pw_", dotted, 32, ANY),
    shape("slack-token", "xoxc-", url, 10, ANY),
    shape("slack-token", "xoxd-", dotted, 10, ANY),
    shape("gitlab-token", "glsoat-", url, 20, ANY),
    shape("gitlab-token", "glft-", url, 20, ANY),
    shape("gitlab-token", "glagent-", url, 20, ANY),
    shape("gitlab-token", "gloas-", url, 20, ANY),
    shape("atlassian-token", "ATATT3", atlassian, 40, ANY),
    shape("atlassian-token", "ATCTT3", atlassian, 40, ANY),
    shape("shopify-token", "shpca_", hex, 32, 32),
    shape("shopify-token", "shppa_", hex, 32, 32),
    shape("digitalocean-token", "dor_v1_", hex, 64, 64),
    shape("dynatrace-token", "dt0c01.", dotted, 60, ANY),
    shape("docker-token", "SWMTKN-1-", url, 40, ANY),
    shape("figma-token", "figd_", url, 30, ANY),
    shape("linear-key", "lin_oauth_", alnum, 32, ANY),
    shape("postman-key", "PMAK-", url, 40, ANY),
    shape("contentful-token", "CFPAT-", url, 40, ANY),
    shape("square-token", "sq0atp-", url, 22, ANY),
    shape("square-token", "sq0csp-", url, 40, ANY),
    shape("netlify-token", "nfp_", alnum, 36, ANY),
    shape("render-key", "rnd_", alnum, 28, ANY),
    shape("vault-token", "hvb.", url, 24, ANY),
    shape("pulumi-token", "pul-", hex, 40, 40),
    shape("langfuse-key", "sk-lf-", url, 30, ANY),
    shape("tavily-key", "tvly-", url, 28, ANY),
    shape("posthog-key", "phx_", alnum, 40, ANY),
    shape("cloudflare-token", "cfut_", alnum, 40, ANY),
    shape("cloudflare-token", "cfat_", alnum, 40, ANY),
    shape("cloudflare-token", "cfk_", alnum, 37, ANY),
    shape("cloudflare-key", "v1.0-", hex_groups, 171, 171),
    shape("crates-io-token", "cio", alnum, 32, 32),
    shape("notion-token", "secret_", alnum, 43, 43),
    shape("supabase-token", "sb_secret_", url, 24, ANY),
    shape("doppler-token", "dp.pt.", dotted, 40, ANY),
    shape("doppler-token", "dp.st.", dotted, 40, ANY),
    shape("doppler-token", "dp.ct.", dotted, 40, ANY),
    shape("doppler-token", "dp.sa.", dotted, 40, ANY),
    shape("doppler-token", "dp.scim.", dotted, 40, ANY),
    shape("doppler-token", "dp.audit.", dotted, 40, ANY),
    shape("fly-token", "fm1r_", base64, 40, ANY),
    shape("fly-token", "fm2_", base64, 40, ANY),
    shape("fly-token", "fo1_", url, 40, 60),
    shape("vault-token", "hvr.", url, 24, ANY),
    shape("grafana-token", "glc_eyJ", base64, 32, ANY),
    shape("huggingface-token", "api_org_", alnum, 30, 64),
    shape("sentry-token", "sntryu_", hex, 64, 64),
    shape("newrelic-key", "NRII-", url, 32, 32),
    shape("onepassword-token", "ops_eyJ", url, 60, ANY),
    shape("gitlab-token", "glrtr-", url, 20, ANY),
    shape("gitlab-token", "GR1348941", url, 20, 20),
    shape("atlassian-token", "ATSTT3", atlassian, 40, ANY),
    shape("bitbucket-token", "ATBB", alnum, 32, 32),
    shape("heroku-key", "HRKU-AA", url, 40, ANY),
    shape("google-token", "1//0", url, 40, ANY),
    shape("aws-key", "ABSK", base64, 100, ANY),
    shape("neon-key", "napi_", small, 60, ANY),
    shape("vercel-token", "vcp_", alnum, 50, ANY),
    shape("vercel-token", "vck_", alnum, 50, ANY),
    shape("prefect-key", "pnu_", alnum, 36, 36),
    shape("snyk-token", "snyk_uat.", dotted, 40, ANY),
    shape("snyk-token", "snyk_sat.", dotted, 40, ANY),
    shape("sonarqube-token", "squ_", hex, 40, 40),
    shape("sonarqube-token", "sqp_", hex, 40, 40),
    shape("sonarqube-token", "sqa_", hex, 40, 40),
    shape("artifactory-token", "AKCp", alnum, 60, 90),
    shape("circleci-token", "CCIPAT_", word, 60, ANY),
    shape("buildkite-token", "bkua_", hex, 40, 40),
    shape("brevo-key", "xkeysib-", url, 70, ANY),
    shape("plaid-token", "access-production-", hex_groups, 36, 36),
    shape("plaid-token", "access-sandbox-", hex_groups, 36, 36),
    shape("clojars-token", "CLOJARS_", hex, 60, 60),
    shape("docker-token", "dckr_oat_", url, 20, ANY),
    shape("shippo-token", "shippo_live_", hex, 40, 40),
    shape("cerebras-key", "csk-", small, 48, 48),
    shape("together-key", "tgp_v1_", url, 40, ANY),
    shape("nvidia-key", "nvapi-", url, 60, ANY),
    shape("elevenlabs-key", "sk_", hex, 48, 48),
    shape("langsmith-key", "lsv2_pt_", word, 40, ANY),
    shape("langsmith-key", "lsv2_sk_", word, 40, ANY),
    shape("pinecone-key", "pcsk_", word, 50, ANY),
    shape("firecrawl-key", "fc-", hex, 32, 32),
    shape("cursor-key", "key_", hex, 64, 64),
    shape("cursor-key", "crsr_", hex, 64, 64),
    shape("openshift-token", "sha256~", url, 43, 43),
    shape("nuget-key", "oy2", small, 43, 43),
    shape("sourcegraph-token", "sgp_", word, 40, ANY),
    shape("openai-key", "sk-None-", alnum, 20, ANY),
    shape("aws-key", "ABIA", upper, 16, 16),
    shape("aws-key", "ACCA", upper, 16, 16),
];
