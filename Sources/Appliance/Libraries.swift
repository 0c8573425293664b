internal import API
internal import Audio
internal import GPIO
internal import Hashing
internal import Network
internal import Primitives

/// The C libraries that the appliance runs with, for `portero version`.
enum Libraries {
    static var versions: [(name: String, version: String)] {
        [
            ("libgpiod", Board.libraryVersion), ("c-ares", Resolver.libraryVersion),
            ("libcurl", HTTPClient.libraryVersion), ("libnettle", Hashes.nettleVersion),
        ]
    }
}
