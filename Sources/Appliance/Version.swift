/// What this is.
package enum Version {
    package static let number = "0.1.0"
    /// For User-Agent.
    static var product: String { "Portero/\(number)" }

    /// `portero version`: the version, and the libraries that it runs with.
    package static var text: String {
        let libraries = Libraries.versions.map { "  \($0.name) \($0.version)\n" }.joined()
        return "portero \(number)\n\(libraries)"
    }
}
