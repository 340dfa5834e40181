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

// Options say where diagnostics are served, and how TLS is spoken, also by the webhook server. Zero values of what is about TLS are
// Go's defaults.
type Options struct {
	// Address is host:port; Insecure serves metrics alone, over HTTP and to everybody.
	Address  string
	Insecure bool
	// ProfilerAddress is where profiles are served; "" is nowhere.
	ProfilerAddress string

	// MinVersion is a name as VersionTLS12, CipherSuites are names as TLS_AES_128_GCM_SHA256, and CurvePreferences are crypto/tls
	// CurveIDs.
	MinVersion       string
	CipherSuites     []string
	CurvePreferences []int32
}

// AddFlags registers the flags of Cluster API's managers with their defaults, and --profiler-address.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.ProfilerAddress, "profiler-address", "", "Address to serve profiles at, as in localhost:6060, over HTTPS and to who may get /debug/pprof/*; empty is none.")
	fs.StringVar(&o.Address, "diagnostics-address", ":8443", "Address to serve metrics and the level of the log at, over HTTPS and to who may get their paths.")
	fs.BoolVar(&o.Insecure, "insecure-diagnostics", false, "Serve metrics over HTTP and to everybody, and nothing else.")
	fs.StringVar(&o.MinVersion, "tls-min-version", "VersionTLS12", "Lowest version of TLS that webhooks and diagnostics are served with: "+strings.Join(cliflag.TLSPossibleVersions(), ", ")+".")
	fs.StringSliceVar(&o.CipherSuites, "tls-cipher-suites", nil, "Cipher suites that webhooks and diagnostics are served with; empty is Go's choice. "+
		"Preferred: "+strings.Join(cliflag.PreferredTLSCipherNames(), ", ")+". Insecure: "+strings.Join(cliflag.InsecureTLSCipherNames(), ", ")+".")
	fs.Int32SliceVar(&o.CurvePreferences, "tls-curve-preferences", nil, "Key exchanges that webhooks and diagnostics are served with, as numbers of https://pkg.go.dev/crypto/tls#CurveID; empty is Go's choice.")
}

// TLS is how webhooks and diagnostics speak it. The error names the flag.
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
		// HTTP/1.1 alone: nobody who asks a manager needs many streams on a connection, and resetting them by the thousand is an
		// attack on the server: CVE-2023-44487, CVE-2023-39325.
		config.NextProtos = []string{"http/1.1"}
	}}, nil
}

// Metrics are the options of the server of metrics.
func (o *Options) Metrics(spoken []func(*tls.Config)) metricsserver.Options {
	if o.Insecure {
		return metricsserver.Options{BindAddress: o.Address}
	}
	return metricsserver.Options{
		BindAddress: o.Address, SecureServing: true, TLSOpts: spoken, FilterProvider: reviewed,
		ExtraHandlers: map[string]http.Handler{"/debug/flags/v": http.HandlerFunc(setLogLevel)},
	}
}

// profiles is the folder of what a profile of the process is asked from.
const profiles = "/debug/pprof/"

// Profiles are the options of the server of profiles, which have what is in memory, names and all.
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
