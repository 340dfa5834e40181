package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestAnswerURLsOfOtherHostsAreRefused returns URLs in answers, as operations and as pages of a list. A request to another host would
// send the token there.
func TestAnswerURLsOfOtherHostsAreRefused(t *testing.T) {
	tests := map[string]struct {
		reason, url string
		followed    bool
	}{
		"same host":     {"it is the usual URL", "https://management.azure.com/subscriptions/s/operations/1?api-version=1", true},
		"letters":       {"hosts are not case-sensitive", "HTTPS://Management.Azure.com/subscriptions/s/operations/1", true},
		"port of https": {"compute's nextLinks have it", "https://management.azure.com:443/subscriptions/s/operations/1", true},
		"region": {"providers name the region's endpoint",
			"https://eastus.management.azure.com/subscriptions/s/operations/1", true},
		"relative":         {"it is below the endpoint", "/subscriptions/s/operations/1", true},
		"another host":     {"its owner would receive the token", "https://attacker.example/subscriptions/s/operations/1", false},
		"ends alike":       {"only the end of the host is Azure's", "https://notmanagement.azure.com/x", false},
		"begins alike":     {"only the beginning of the host is Azure's", "https://management.azure.com.attacker.example/x", false},
		"below a region":   {"Azure's regions have one level", "https://a.eastus.management.azure.com/x", false},
		"another port":     {"another process may listen there", "https://management.azure.com:8443/x", false},
		"no TLS":           {"the token would be readable", "http://management.azure.com/x", false},
		"user":             {"the apparent host is a user name", "https://management.azure.com@attacker.example/x", false},
		"user of the host": {"Azure's URLs have none", "https://user@management.azure.com/x", false},
		"without a scheme": {"a host follows two slashes", "//attacker.example/x", false},
		"another scheme":   {"it is not an HTTP URL", "file:///etc/passwd", false},
		"opaque":           {"it has no host", "https:management.azure.com/x", false},
		"backslash":        {"some parsers read it as a slash", `https://management.azure.com\@attacker.example/x`, false},
		"very long": {"Azure's URLs have a few hundred characters",
			"https://management.azure.com/" + strings.Repeat("x", 10_000), false},
		"address in the link": {"metadata of the machine", "https://169.254.169.254/metadata/identity/oauth2/token", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			transport := recording(func(r *http.Request) *http.Response {
				asked = append(asked, r.URL.Host)
				answer := httptest.NewRecorder()
				if strings.HasSuffix(r.URL.Path, "/things") {
					fmt.Fprintf(answer, `{"value":[],"nextLink":%q}`, test.url)
				} else {
					fmt.Fprint(answer, `{"value":[]}`)
				}
				return answer.Result()
			})
			c, err := client.New(credential.Token("t"), newConfiguration("https://management.azure.com"), client.Options{Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			_, polled := c.PollURL(context.Background(), id, test.url)
			_, listed := c.List(context.Background(), "/subscriptions/s/things", "v", nil)
			want := 1
			if test.followed {
				want = 3
			}
			if len(asked) != want {
				t.Errorf("%s: requests %v", test.reason, asked)
			}
			for _, err := range []error{polled, listed} {
				var failure *arm.Error
				if (err == nil) != test.followed || err != nil &&
					(!errors.As(err, &failure) || failure.Code != client.CodeForeignURL || len(err.Error()) > 500) {
					t.Errorf("%s: %v", test.reason, err)
				}
			}
		})
	}
}

type recording func(*http.Request) *http.Response

func (r recording) Do(request *http.Request) (*http.Response, error) { return r(request), nil }

// TestRedirectsToOtherHostsAreNotFollowed: the body of the request may have secrets.
func TestRedirectsToOtherHostsAreNotFollowed(t *testing.T) {
	var leaked atomic.Int32
	other := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { leaked.Add(1) }))
	defer other.Close()
	for name, code := range map[string]int{"temporary": http.StatusTemporaryRedirect, "permanent": http.StatusPermanentRedirect,
		"found": http.StatusFound} {
		listener := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/elsewhere", code)
		}))
		defer listener.Close()
		c, err := client.New(credential.Token("t"), newConfiguration(listener.URL),
			client.Options{Transport: newTrustingTransport(listener, other)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Put(context.Background(), id, "v", map[string]string{"customData": "secret"}, "")
		var failure *arm.Error
		if !errors.As(err, &failure) || failure.Status != code || leaked.Load() != 0 {
			t.Errorf("%s: %v, %d requests at the other host", name, err, leaked.Load())
		}
	}
}

func newTrustingTransport(servers ...*httptest.Server) policy.Transporter {
	first := servers[0].Client().Transport.(*http.Transport).Clone()
	for _, server := range servers[1:] {
		first.TLSClientConfig.RootCAs.AddCert(server.Certificate())
	}
	return &http.Client{Transport: first}
}
