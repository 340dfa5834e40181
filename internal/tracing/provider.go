package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// DefaultEndpoint is the collector of --enable-tracing if no variable names another one: the Service that the established provider
// sends to, at the port for HTTP.
const DefaultEndpoint = "http://opentelemetry-collector:4318"

// Options say where traces are sent. Sampler, batches and attributes of the process are set by the variables of OpenTelemetry's SDK, as
// OTEL_TRACES_SAMPLER and OTEL_RESOURCE_ATTRIBUTES.
type Options struct {
	// URL receives the spans.
	URL string
	// Headers are sent with them. They may contain credentials.
	Headers map[string]string
	// Timeout ends a request.
	Timeout time.Duration
	// Version is that of the manager.
	Version string
}

// unsupported are the standard variables that the exporter does not know. With one of them another connection is expected than is made,
// so it is refused.
var unsupported = []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY", "COMPRESSION"}

// ReadOptions returns the options of the standard variables for an OTLP exporter. enabled is the flag --enable-tracing. It returns nil if
// traces are off: neither the flag nor an endpoint is set, or OTEL_SDK_DISABLED is true.
func ReadOptions(getenv func(string) string, enabled bool, version string) (*Options, error) {
	read := func(name string) (value, variable string) {
		for _, variable := range []string{"OTEL_EXPORTER_OTLP_TRACES_" + name, "OTEL_EXPORTER_OTLP_" + name} {
			if value := strings.TrimSpace(getenv(variable)); value != "" {
				return value, variable
			}
		}
		return "", ""
	}
	endpoint, variable := read("ENDPOINT")
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" || !enabled && endpoint == "" {
		return nil, nil
	}
	if protocol, name := read("PROTOCOL"); protocol != "" && protocol != "http/json" {
		return nil, fmt.Errorf("%s=%q: the manager sends traces as http/json. Collectors accept it at port 4318. Remove the variable",
			name, protocol)
	}
	for _, name := range unsupported {
		if value, variable := read(name); value != "" && value != "none" {
			return nil, fmt.Errorf("%s is not supported: the manager sends traces without compression, and trusts the CAs of its system. "+
				"Remove the variable, or set it to a collector in the same Pod", variable)
		}
	}
	o := &Options{Version: version, Timeout: 10 * time.Second}
	if endpoint == "" {
		endpoint = DefaultEndpoint
	}
	target, err := url.Parse(endpoint)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, fmt.Errorf("%s: use a URL such as %s", variable, DefaultEndpoint)
	}
	// The variable for traces is the whole URL, the one for all signals its beginning.
	if !strings.HasPrefix(variable, "OTEL_EXPORTER_OTLP_TRACES_") {
		target = target.JoinPath("v1", "traces")
	}
	o.URL = target.String()
	if raw, name := read("TIMEOUT"); raw != "" {
		milliseconds, err := strconv.Atoi(raw)
		if err != nil || milliseconds <= 0 {
			return nil, fmt.Errorf("%s=%q: use a number of milliseconds", name, raw)
		}
		o.Timeout = time.Duration(milliseconds) * time.Millisecond
	}
	raw, name := read("HEADERS")
	if o.Headers, err = parseHeaders(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// parseHeaders reads a list such as key1=value1,key2=value2 with percent-encoded values. Its errors do not repeat values.
func parseHeaders(list string) (map[string]string, error) {
	if list == "" {
		return nil, nil
	}
	out := map[string]string{}
	for entry := range strings.SplitSeq(list, ",") {
		key, encoded, found := strings.Cut(entry, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if key = strings.TrimSpace(key); !found || key == "" || err != nil {
			return nil, errors.New("use a list such as key1=value1,key2=value2 with percent-encoded values")
		}
		out[key] = value
	}
	return out, nil
}

// NewProvider returns a provider that sends spans in batches. Shutdown sends the rest.
func NewProvider(ctx context.Context, o Options) (*sdktrace.TracerProvider, error) {
	attributes, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(attribute.String("service.name", "capz"),
		attribute.String("service.version", o.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("attributes of traces: %w", err)
	}
	sender := &exporter{options: o, http: &http.Client{Timeout: o.Timeout}}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(sender), sdktrace.WithResource(attributes)), nil
}
