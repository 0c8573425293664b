internal import Hashing
package import Primitives

extension Hashes {
    /// The real ones.
    package static let forTests = nettle
}
