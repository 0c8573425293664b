/// Values that come from the command line or a program in the same form as in the file.
extension HeaderField {
    /// `Name: value` of a field that the stack does not write itself; nil for anything else.
    package init?(_ text: String) {
        guard let field = try? Form<HeaderField>.header.read(text) else { return nil }
        self = field
    }
}

extension DialTarget {
    /// A SIP URI to call, in its normal form; nil for anything else.
    package static func uri(_ text: String) -> String? {
        text.isSIPURI ? try? Form<String>.uri(user: false).read(text) : nil
    }
}
