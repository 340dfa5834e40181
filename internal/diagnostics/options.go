package diagnostics

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Options configure the addresses of diagnostics, and TLS for diagnostics and the webhook server. Zero values of TLS fields are
// Go's defaults.
type Options struct {
	// Address is host:port; Insecure serves metrics only, over HTTP and without authentication.
	Address  string
	Insecure bool
	// ProfilerAddress is the address of profiles; "" disables them.
	ProfilerAddress string

	// MinVersion is a name as VersionTLS12, CipherSuites are names as TLS_AES_128_GCM_SHA256, and CurvePreferences are crypto/tls
	// CurveIDs.
	MinVersion       string
	CipherSuites     []string
	CurvePreferences []int32
}

// AddFlags registers the flags of Cluster API's managers with their defaults, and --profiler-address.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ProfilerAddress, "profiler-address", "",
		"Address of profiles, for example localhost:6060. They are served over HTTPS to users who may get /debug/pprof/*. Empty disables them.")
	fs.StringVar(&o.Address, "diagnostics-address", ":8443",
		"Address of metrics and of the log level. They are served over HTTPS to users who may get their paths.")
	fs.BoolVar(&o.Insecure, "insecure-diagnostics", false, "Serve metrics over HTTP without authentication, and no log level.")
	fs.StringVar(&o.MinVersion, "tls-min-version", "VersionTLS12",
		"Minimum TLS version of webhooks and diagnostics: "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+".")
	fs.StringSliceVar(&o.CipherSuites, "tls-cipher-suites", nil, "Cipher suites of webhooks and diagnostics; empty is Go's choice. "+
		"Preferred: "+strings.Join(cliflag.PreferredTLSCipherNames(), ", ")+". Insecure: "+strings.Join(cliflag.InsecureTLSCipherNames(),
		", ")+".")
	fs.Int32SliceVar(&o.CurvePreferences, "tls-curve-preferences", nil,
		"Key exchanges of webhooks and diagnostics, as numbers of https://pkg.go.dev/crypto/tls#CurveID; empty is Go's choice.")
}

// TLS returns the TLS settings of webhooks and diagnostics. The error names the flag.
func (o *Options) TLS() ([]func(*tls.Config), error) {
	version, err := cliflag.TLSVersion(o.MinVersion)
	if err != nil {
		return nil, fmt.Errorf("--tls-min-version: %w", err)
	}
	suites, err := cliflag.TLSCipherSuites(o.CipherSuites)
	if err != nil {
		return nil, fmt.Errorf("--tls-cipher-suites: %w", err)
	}
	curves, err := cliflag.TLSCurvePreferences(o.CurvePreferences)
	if err != nil {
		return nil, fmt.Errorf("--tls-curve-preferences: %w", err)
	}
	return []func(*tls.Config){func(config *tls.Config) {
		config.MinVersion, config.CipherSuites, config.CurvePreferences = version, suites, curves
		// Only HTTP/1.1: clients of a manager do not need several streams on a connection, and HTTP/2 allows the attacks
		// CVE-2023-44487 and CVE-2023-39325, which reset thousands of streams.
		config.NextProtos = []string{"http/1.1"}
	}}, nil
}

// Metrics returns the options of the metrics server.
func (o *Options) Metrics(spoken []func(*tls.Config)) metricsserver.Options {
	if o.Insecure {
		return metricsserver.Options{BindAddress: o.Address}
	}
	return metricsserver.Options{
		BindAddress: o.Address, SecureServing: true, TLSOpts: spoken, FilterProvider: reviewed,
		ExtraHandlers: map[string]http.Handler{"/debug/flags/v": http.HandlerFunc(setLogLevel)},
	}
}

// profiles is the URL path prefix of the profiles of the process.
const profiles = "/debug/pprof/"

// Profiles returns the options of the profile server. Profiles can reveal memory contents such as names.
func (o *Options) Profiles(spoken []func(*tls.Config)) metricsserver.Options {
	return metricsserver.Options{
		BindAddress: o.ProfilerAddress, SecureServing: true, TLSOpts: spoken, FilterProvider: reviewed,
		ExtraHandlers: map[string]http.Handler{
			profiles:             http.HandlerFunc(pprof.Index),
			profiles + "cmdline": http.HandlerFunc(pprof.Cmdline),
			profiles + "profile": http.HandlerFunc(pprof.Profile),
			profiles + "symbol":  http.HandlerFunc(pprof.Symbol),
			profiles + "trace":   http.HandlerFunc(pprof.Trace),
		},
	}
}
