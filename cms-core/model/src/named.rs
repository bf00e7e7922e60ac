//! Declares enums whose variants have names: in the API, in the database, or in both.

/// Declares an enum with the name of each variant, the list of its variants, and the functions
/// from a variant to its name and back.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        pub enum $enum:ident {
            $($(#[$variant_attribute:meta])* $variant:ident => $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $enum {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $enum {
            /// All variants, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the variant of this name.
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == name)
            }
        }
    };
}
