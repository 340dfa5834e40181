package client

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// maxRedirects bounds the redirects of one host to itself that are followed.
const maxRedirects = 3

// ConfineToHost returns a transport that follows no redirect to another host, because the body with its secrets would be sent there.
// Nil is a transport with the settings of azcore's.
func ConfineToHost(next policy.Transporter) policy.Transporter {
	if next == nil {
		next = &http.Client{Transport: newTransport()}
	}
	plain, ok := next.(*http.Client)
	if !ok {
		return next
	}
	out := *plain
	out.CheckRedirect = func(request *http.Request, earlier []*http.Request) error {
		if len(earlier) > maxRedirects || !sameHost(request.URL, earlier[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &out
}

// newTransport returns a transport with the settings of azcore's, and bounds the headers of answers.
// https://pkg.go.dev/github.com/Azure/azure-sdk-for-go/sdk/azcore/policy#ClientOptions
func newTransport() *http.Transport {
	out := http.DefaultTransport.(*http.Transport).Clone()
	out.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	out.MaxIdleConnsPerHost = 10
	out.MaxResponseHeaderBytes = 256 << 10
	out.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	return out
}

// ForTokens returns a confined transport that bounds answers, for Entra ID and metadata endpoints: azidentity reads them whole.
func ForTokens(next policy.Transporter) policy.Transporter {
	return tokenTransport{ConfineToHost(next)}
}

type tokenTransport struct{ next policy.Transporter }

// Do implements policy.Transporter.
func (t tokenTransport) Do(request *http.Request) (*http.Response, error) {
	answer, err := t.next.Do(request)
	if err == nil {
		answer.Body = boundedBody{newBoundedReader(answer.Body, maxToken), answer.Body}
	}
	return answer, err
}

// managerTransport bounds error answers, because azcore reads them whole before any other code can. Successful answers are bounded
// where they are read.
type managerTransport struct{ next policy.Transporter }

// Do implements policy.Transporter.
func (t managerTransport) Do(request *http.Request) (*http.Response, error) {
	answer, err := t.next.Do(request)
	if err == nil && !isSuccess(answer.StatusCode) {
		answer.Body = boundedBody{io.LimitReader(answer.Body, maxError+1), answer.Body}
	}
	return answer, err
}

func isSuccess(status int) bool { return status >= 200 && status <= 299 }

type boundedBody struct {
	io.Reader
	io.Closer
}

// sameHost reports whether both URLs have the same scheme, host and port.
func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(a.Scheme, b.Scheme) && strings.EqualFold(a.Hostname(), b.Hostname()) && effectivePort(a) == effectivePort(b)
}

// effectivePort returns the port of a URL, with the default of its scheme. Some of Azure's nextLinks name that of https, as in
// https://management.azure.com:443/.
func effectivePort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case strings.EqualFold(u.Scheme, "https"):
		return "443"
	}
	return "80"
}
