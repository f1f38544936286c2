//! One key of each provider as it is issued now, with nothing around it that names it.

use super::{ALNUM, HEX, UPPER, check, random};

const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const DIGITS: &str = "123456789";
const CAPITALS: &str = "0123456789ABCDEF";

/// How a key looks: words in braces are so many random characters of an alphabet.
const KEYS: &[&str] = &[
    "key-{hex32}",
    "pul-{hex40}",
    "SK{hex32}",
    "pat{an14}.{hex64}",
    "cfut_{an40}",
    "cfat_{an40}",
    "cfk_{an40}",
    "v1.0-{hex24}-{hex146}",
    "cio{an32}",
    "{discord}.{url6}.{url38}",
    "https://discord.com/api/webhooks/{digit18}/{url68}",
    "lin_api_{an40}",
    "lin_oauth_{hex64}",
    "ntn_{an46}",
    "secret_{an43}",
    "sbp_{hex40}",
    "sb_secret_{url22}_{an8}",
    "phx_{an43}",
    "dp.pt.{an43}",
    "dp.st.{an43}",
    "dp.st.dev.{an43}",
    "dp.sa.{an43}",
    "FlyV1 fm2_{an80}",
    "fo1_{url43}",
    "hvs.{url90}",
    "hvb.{url90}",
    "hvr.{url90}",
    "glsa_{an32}_{hex8}",
    "glc_eyJ{an90}",
    "dapi{hex32}",
    "dapi{hex32}-2",
    "dop_v1_{hex64}",
    "npm_{an36}",
    "pypi-AgEIcHlwaS5vcmc{url120}",
    "rubygems_{hex48}",
    "hf_{an34}",
    "api_org_{an34}",
    "r8_{an37}",
    "sk-or-v1-{hex64}",
    "gsk_{an52}",
    "xai-{an80}",
    "pplx-{an48}",
    "sntrys_eyJ{an60}_{an43}",
    "sntryu_{hex64}",
    "NRAK-{up27}",
    "NRII-{url32}",
    "{hex36}NRAL",
    "shpat_{hex32}",
    "sq0atp-{url22}",
    "sq0csp-{url43}",
    "EAAA{url60}",
    "SG.{url22}.{url43}",
    "xapp-1-A{up10}-{digit13}-{hex64}",
    "{digit10}:AA{url33}",
    "tskey-auth-k{an11}CNTRL-{an32}",
    "tskey-api-k{an11}CNTRL-{an32}",
    "{an14}.atlasv1.{url67}",
    "ops_eyJ{an200}",
    "A3-{up6}-{up6}-{up5}-{up5}-{up5}-{up5}",
    "AGE-SECRET-KEY-1{up58}",
    "https://x.blob.core.windows.net/c?sv=2024&sig={an43}%3D",
    "sk-None-{an48}",
    "GR1348941{url20}",
    "glrtr-{url20}",
    "ATBB{an32}",
    "ATSTT3{url180}",
    "HRKU-AA{url58}",
    "1//0{url60}",
    "ABSK{an128}",
    "access_token$production${low16}${hex32}",
    "napi_{low64}",
    "vcp_{an56}",
    "vck_{an56}",
    "pnu_{an36}",
    "snyk_uat.{hex8}.{url40}",
    "squ_{hex40}",
    "sqp_{hex40}",
    "AKCp{an69}",
    "CCIPAT_{an22}_{hex40}",
    "bkua_{hex40}",
    "tfp_{an44}",
    "xkeysib-{hex64}-{an16}",
    "{hex32}-us12",
    "access-production-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "CLOJARS_{hex60}",
    "dckr_oat_{url32}",
    "EZAK{an54}",
    "shippo_live_{hex40}",
    "csk-{low48}",
    "tgp_v1_{url43}",
    "nvapi-{url64}",
    "sk_{hex48}",
    "lsv2_pt_{hex32}_{hex10}",
    "pcsk_{an5}_{an60}",
    "re_{an8}_{an24}",
    "fc-{hex32}",
    "jina_{an60}",
    "key_{hex64}",
    "crsr_{hex64}",
    "mdb_sa_sk_{url40}",
    "sl.u.{url130}",
    "pat-na1-{hex8}-{hex4}-{hex4}-{hex4}-{hex12}",
    "1000.{hex32}.{hex32}",
    "sha256~{url43}",
    "oy2{low43}",
    "sgp_{hex16}_{hex40}",
    "pat.{url22}.{hex24}.{an20}",
    "*{HEX40}",
];

/// The key of this look.
fn key(look: &str, seed: u64) -> String {
    let mut parts = look.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        let (name, rest) = part.split_once('}').expect("closed");
        let len = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().unwrap_or(18);
        let alphabet = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "an" => ALNUM,
            "hex" => HEX,
            "url" => URL,
            "low" => LOWER,
            "digit" => DIGITS,
            "HEX" => CAPITALS,
            "up" => UPPER,
            "discord" => DIGITS,
            other => panic!("{other}"),
        };
        let mut value = random(alphabet, len, seed * 31 + at as u64);
        if alphabet == URL {
            // A sign at the edge of a part is as likely as any other; one at the end of a word is of the sentence.
            value.replace_range(..1, "a");
            value.replace_range(len - 1.., "z");
        }
        out.push_str(&if name == "discord" { base64(&value) } else { value });
        out.push_str(rest);
    }
    out
}

fn base64(text: &str) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| part.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
    let signs = |bits: u32| [18, 12, 6, 0].map(|shift| char::from(SIGNS[(bits >> shift & 63) as usize]));
    text.as_bytes().chunks_exact(3).flat_map(|part| signs(group(part))).collect()
}

#[test]
fn a_key_of_every_provider_is_gone_whole() {
    let mut leaked = Vec::new();
    for look in KEYS {
        for seed in 1..8 {
            let key = key(look, seed);
            let tail = &key[key.len() - 8..];
            for frame in ["{}", "see {} there", "\"{}\",", "a\\n{}\\nb", "({})."] {
                let out = check(&frame.replace("{}", &key));
                let head = &key[..key.len().min(24)];
                let address = look.starts_with("https");
                if out.contains(tail) || !address && out.contains(head) || !out.contains("[redacted:") {
                    leaked.push((*look, out));
                }
            }
        }
    }
    let count = leaked.len();
    leaked.dedup_by_key(|(look, _)| *look);
    assert!(leaked.is_empty(), "{count}, of {} looks: {leaked:#?}", leaked.len());
}

/// Names, ids and words that begin or are built as keys are.
const HARMLESS: &[&str] = &[
    "pattern-matching.with-a-very-long-name-of-words-that-goes-on-and-on-and-on-and-on-and-on.html",
    "path/to/some/file/with/a/very/long/name/that/goes/on/and/on/until/it/is/longer/than/eighty/chars",
    "AC0123456789abcdef0123456789abcdef",
    "the patch.tar.gz and pat.example.org",
    "v1.0-beta.2 and v1.0-rc1",
    "cio is the chief",
    "secret_manager_of_the_whole_application_and_its_parts_in_one_place",
    "secret_key_base and key_of_the_account_and_of_the_user_and_so_on_and_on",
    "sl.example.org and dp.pt.example.org",
    "re_exported_names_of_the_module and core_12345678_abcdefgh",
    "access-production-database and access-production-notes",
    "fc-list and fc-cache -f",
    "d41d8cd98f00b204e9800998ecf8427e-us",
    "sha256~abc",
    "1000.5 and 1000.25.3",
    "napi_create_function_with_a_long_name and napi_get_value_string_utf8",
    "vcp_of_the_board, EAAA, ATBB, AKCp",
    "*D41D8CD98F00B204",
    "01a1fb69-e811-7c30-bbff-59dfc21c35e2",
    "D46A0C1F9B3E8A7D6C5B4A39281706F5E4D3C2B1",
    "MTIzNDU2Nzg5MDEyMzQ1Njc4 is a number in base64",
];

#[test]
fn what_is_built_like_a_key_and_is_none_stays() {
    let changed: Vec<(&str, String)> =
        HARMLESS.iter().map(|text| (*text, check(text))).filter(|(text, out)| text != out).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}
