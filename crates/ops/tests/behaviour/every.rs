//! One rule, three tests: `rule::memory`, `rule::file`, `rule::postgres`.

use crate::backend::Backend;
use crate::world::World;

/// Expands each function into a test for every backend. The argument is a fresh world.
macro_rules! on_every_backend {
    ($($(#[$meta:meta])* fn $name:ident($world:ident) $body:block)+) => {
        $(
            $(#[$meta])*
            mod $name {
                #[allow(unused_imports, reason = "not every rule needs every name of its module")]
                use super::*;

                fn rule($world: &mut $crate::world::World) $body

                #[test]
                fn memory() {
                    $crate::every::run($crate::backend::Backend::Memory, rule);
                }

                #[test]
                fn file() {
                    $crate::every::run($crate::backend::Backend::File, rule);
                }

                #[test]
                fn postgres() {
                    $crate::every::run($crate::backend::Backend::Postgres, rule);
                }
            }
        )+
    };
}

/// Like `on_every_backend`, for rules about several connections: a store in memory has only one.
macro_rules! on_shared_backends {
    ($($(#[$meta:meta])* fn $name:ident($world:ident) $body:block)+) => {
        $(
            $(#[$meta])*
            mod $name {
                use super::*;

                fn rule($world: &mut $crate::world::World) $body

                #[test]
                fn file() {
                    $crate::every::run($crate::backend::Backend::File, rule);
                }

                #[test]
                fn postgres() {
                    $crate::every::run($crate::backend::Backend::Postgres, rule);
                }
            }
        )+
    };
}

/// Tries a rule in a world of its own, and then whether the ledger is sound, whatever the rule was about.
pub(crate) fn run(backend: Backend, rule: fn(&mut World)) {
    if let Some(mut world) = World::new(backend, 1) {
        rule(&mut world);
        if !world.damaged {
            world.assert_sound();
        }
    }
}
