// swift-tools-version:6.0
import PackageDescription

// Everything shared between targets is `package`; nothing is `public`. Dependencies point one way: from the
// cores (no input or output, no C library) at the top to the appliance at the bottom.

let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .unsafeFlags(["-warnings-as-errors"]),
]

/// Code that runs once per sample or per packet is optimised in debug builds too.
let fast: [SwiftSetting] = strict + [.unsafeFlags(["-O"])]

/// Code that runs seldom is small in release builds: what of it is resident counts on a board.
let small: [SwiftSetting] = strict + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A target without input or output: it imports no C library, not even the C standard library.
func core(_ name: String, _ dependencies: [Target.Dependency] = [], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A target that touches the world.
func edge(_ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A C library's face: its includes, wrappers for what Swift cannot import, and the library's name.
func shim(_ name: String, links libraries: [String] = []) -> Target {
    .target(
        name: name, path: "Sources/C/\(name)",
        cSettings: [.define("_GNU_SOURCE")],
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "Portero",
    products: [.executable(name: "portero", targets: ["portero"])],
    targets: [
        // Cores.
        core("Primitives"),
        core("Configuration", ["Primitives"], settings: small),
        core("SIP", ["Primitives"]),
        core("SDP", ["Primitives"]),
        core("RTP", ["Primitives", "SDP"], settings: fast),
        core("UserAgent", ["Primitives", "Configuration", "SIP", "SDP"]),
        core("Intercom", ["Primitives", "Configuration", "SIP", "UserAgent"], settings: small),
        core("Exchange", ["Primitives", "SIP", "SDP", "RTP"], settings: small),

        // C libraries.
        shim("CLinux"),
        shim("CSystemd", links: ["systemd"]),
        shim("CGPIO", links: ["gpiod"]),
        shim("CALSA", links: ["asound"]),
        shim("COpus", links: ["opus"]),
        shim("CSpandsp"),
        shim("CSpeexDSP", links: ["speexdsp"]),
        shim("CSndfile"),
        shim("CNettle", links: ["nettle"]),
        shim("COpenSSL"),
        shim("CAres", links: ["cares"]),
        shim("CCurl"),
        shim("CMicrohttpd", links: ["microhttpd"]),
        shim("CJansson", links: ["jansson"]),
        shim("CMnl", links: ["mnl"]),

        // Edges.
        edge("Hashing", ["Primitives", "CNettle"]),
        edge("EventLoop", ["Primitives", "CLinux", "CSystemd"]),
        edge("Network", ["Primitives", "EventLoop", "SIP", "CLinux", "CAres", "CCurl", "CMnl", "COpenSSL"]),
        edge("GPIO", ["Primitives", "EventLoop", "CLinux", "CGPIO"]),
        edge(
            "Audio",
            ["Primitives", "CLinux", "CALSA", "COpus", "CSpandsp", "CSpeexDSP", "CSndfile"], settings: fast),
        edge("Media", ["Primitives", "SDP", "RTP", "Audio", "EventLoop", "CLinux"], settings: fast),
        edge("API", ["Primitives", "EventLoop", "CLinux", "CMicrohttpd", "CJansson"], settings: small),
        edge(
            "Appliance",
            [
                "Primitives", "Configuration", "SIP", "SDP", "RTP", "UserAgent", "Intercom", "Exchange", "Hashing",
                "EventLoop",
                "Network", "GPIO", "Audio", "Media", "API", "CLinux",
            ], settings: small),
        .executableTarget(
            name: "portero",
            dependencies: ["Primitives", "Configuration", "Appliance", "API", "EventLoop", "Network", "CLinux"],
            swiftSettings: strict),

        // Tests.
        .target(
            name: "Simulation", dependencies: ["Primitives", "Configuration", "SIP", "UserAgent", "Hashing"],
            path: "Tests/Simulation",
            swiftSettings: strict),
        .target(name: "Allocations", path: "Tests/Allocations"),
        .target(
            name: "TLSPeer", path: "Tests/TLSPeer",
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(
            name: "Fuzzing", dependencies: ["Primitives", "Configuration", "SIP", "SDP", "RTP"], path: "Tests/Fuzzing",
            swiftSettings: strict),
        tests("FuzzingTests", ["Fuzzing"]),
        tests("PrimitivesTests", ["Primitives"]),
        tests("ConfigurationTests", ["Primitives", "Configuration"]),
        tests("SIPTests", ["Primitives", "SIP", "Simulation"]),
        tests("SDPTests", ["Primitives", "SDP"]),
        tests("RTPTests", ["Primitives", "SDP", "RTP"]),
        tests(
            "UserAgentTests", ["Primitives", "Configuration", "SIP", "SDP", "UserAgent", "Simulation"]),
        tests("IntercomTests", ["Primitives", "Configuration", "SIP", "UserAgent", "Intercom", "Hashing"]),
        tests("ExchangeTests", ["Primitives", "SIP", "SDP", "RTP", "Exchange", "Simulation"]),
        tests("HashingTests", ["Primitives", "Hashing"]),
        tests("EventLoopTests", ["Primitives", "EventLoop", "CLinux"]),
        tests("NetworkTests", ["Primitives", "SIP", "EventLoop", "Network", "CLinux", "TLSPeer"]),
        tests("GPIOTests", ["Primitives", "EventLoop", "GPIO"]),
        tests("AudioTests", ["Primitives", "Audio"]),
        tests("MediaTests", ["Primitives", "SDP", "RTP", "Audio", "Media", "EventLoop", "CLinux", "Allocations"]),
        tests("APITests", ["Primitives", "API", "EventLoop", "Network", "CLinux"]),
        tests(
            "ApplianceTests",
            [
                "Primitives", "Configuration", "SIP", "UserAgent", "Appliance", "EventLoop", "Network", "GPIO", "API",
                "CLinux",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Fuzzers have no `main` of their own, so an ordinary build leaves them out (board/fuzz).
if Context.environment["PORTERO_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzz", dependencies: ["Fuzzing"], path: "Tests/Fuzz",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}

// The contestant of board/bench's job `parse`.
if Context.environment["PORTERO_BENCH"] != nil {
    let folder = "board/bench/parse/portero"
    package.targets += [
        .target(
            name: "PorteroReader", dependencies: ["Primitives", "SIP", "SDP"], path: "\(folder)/Reader",
            swiftSettings: strict),
        .executableTarget(name: "parse-portero", dependencies: ["PorteroReader"], path: "\(folder)/Driver"),
    ]
}
