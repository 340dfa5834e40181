package client_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"crypto/tls"
	"crypto/x509"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

const (
	hostile = 300 << 20
	// most is the limit of the peak memory of the requesting process.
	most = 200 << 20
)

// hostileAnswers have 300 MiB each.
var hostileAnswers = map[string]struct {
	reason                      string
	ask                         string
	status                      int
	begin, repeat, end, headers string
}{
	"one text":      {"a resource is read whole", "get", 200, `{"a":"`, "x", `"}`, ""},
	"empty objects": {"each value takes more memory than its bytes", "get", 200, `{"a":[{}`, ",{}", `]}`, ""},
	"write":         {"the answer to a write is read, too", "put", 200, `{"a":"`, "x", `"}`, ""},
	"error":         {"an error has a short text", "get", 400, `{"error":{"code":"C","message":"`, "x", `"}}`, ""},
	"error with details": {"an error has few details", "get", 400, `{"error":{"code":"C","message":"m","details":[{}`,
		`,{"code":"d","message":"m"}`, `]}}`, ""},
	"page of small elements": {"each element has a place in the list", "list", 200, `{"value":[{}`, ",{}", `]}`, ""},
	"page of one element":    {"an element is read whole", "list", 200, `{"value":["`, "x", `"]}`, ""},
	"page beside its list":   {"a page may have other members", "list", 200, `{"value":[],"other":"`, "x", `"}`, ""},
	"long nextLink":          {"a link is a text", "list", 200, `{"value":[],"nextLink":"`, "x", `"}`, ""},
	"after the page":         {"the rest is read so that the connection can be reused", "list", 200, `{"value":[]}`, " ", ``, ""},
	"token":                  {"Entra ID's answer is read whole by its client", "token", 200, `{"access_token":"`, "x", `"}`, ""},
	"token error": {"Entra ID's error is read whole by its client",
		"token", 400, `{"error":"invalid_client","error_description":"AADSTS1: `, "x", `"}`, ""},
	"metadata": {"the metadata with Entra ID's endpoints is read whole by its client",
		"metadata", 200, `{"issuer":"`, "x", `"}`, ""},
}

// The flags of the process that measure runs.
var (
	hostileAnswer      = flag.String("hostile-answer", "", "the hostile answer to ask for")
	hostileEndpoint    = flag.String("hostile-endpoint", "", "the address of the server that gives it")
	hostileCertificate = flag.String("hostile-certificate", "", "the certificate of the server")
)

// TestHostileAnswersUseBoundedMemory runs a process for each hostile answer and measures its resident memory.
func TestHostileAnswersUseBoundedMemory(t *testing.T) {
	if *hostileAnswer != "" {
		askHostile(t, *hostileEndpoint, hostileAnswers[*hostileAnswer].ask)
		return
	}
	for name, answer := range hostileAnswers {
		t.Run(name, func(t *testing.T) {
			listener := httptest.NewTLSServer(newHostileHandler(answer.ask, func(w http.ResponseWriter) {
				w.WriteHeader(answer.status)
				writeRepeated(w, answer.begin, answer.repeat, answer.end)
			}))
			defer listener.Close()
			if failure := measureMemory(t, name, listener); !strings.Contains(failure, "FAILED ") {
				t.Errorf("%s: want an error, got %s", answer.reason, failure)
			}
		})
	}
	t.Run("endless pages", func(t *testing.T) {
		element, pages := strings.Repeat("x", 10<<20), 0
		listener := httptest.NewTLSServer(newHostileHandler("list", func(w http.ResponseWriter) {
			pages++
			fmt.Fprintf(w, `{"value":["%s"],"nextLink":"more%d"}`, element, pages)
		}))
		defer listener.Close()
		if failure := measureMemory(t, "page of one element", listener); !strings.Contains(failure, "the list is too large") {
			t.Error(failure)
		}
	})
	t.Run("endless empty pages", func(t *testing.T) {
		pages := 0
		listener := httptest.NewTLSServer(newHostileHandler("list", func(w http.ResponseWriter) {
			pages++
			fmt.Fprintf(w, `{"value":[],"nextLink":"more%d"}`, pages)
		}))
		defer listener.Close()
		if failure := measureMemory(t, "page of one element", listener); !strings.Contains(failure, "the list is too large") {
			t.Error(failure)
		}
	})
}

// newHostileHandler returns the answers of Entra ID and Resource Manager, and the hostile one for ask.
func newHostileHandler(ask string, answer func(http.ResponseWriter)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		isMetadata, isToken := strings.HasSuffix(r.URL.Path, "/openid-configuration"), strings.HasSuffix(r.URL.Path, "/token")
		switch base := "https://" + r.Host + "/tenant"; {
		case isMetadata && ask != "metadata":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": base + "/v2.0",
				"authorization_endpoint": base + "/oauth2/v2.0/authorize", "token_endpoint": base + "/oauth2/v2.0/token"})
		case isToken && ask == "metadata":
			http.Error(w, "the metadata was accepted", http.StatusTeapot)
		default:
			answer(w)
		}
	}
}

func writeRepeated(w http.ResponseWriter, begin, repeat, end string) {
	block := []byte(strings.Repeat(repeat, (64<<10)/len(repeat)))
	_, err := w.Write([]byte(begin))
	for written := 0; err == nil && written < hostile; written += len(block) {
		_, err = w.Write(block)
	}
	if err == nil {
		_, _ = w.Write([]byte(end))
	}
}

// measureMemory runs this test as a separate process and returns its output.
func measureMemory(t *testing.T, name string, listener *httptest.Server) string {
	t.Helper()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: listener.Certificate().Raw})
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^TestHostileAnswersUseBoundedMemory$",
		"-hostile-answer", name, "-hostile-endpoint", listener.URL, "-hostile-certificate", string(certificate))
	command.Env = []string{}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out[:min(len(out), 2000)])
	}
	peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	t.Logf("%d MiB at the peak", peak>>20)
	if peak > most {
		t.Errorf("%d MiB of memory, want at most %d", peak>>20, most>>20)
	}
	return string(out)
}

// askHostile sends one request and decodes the answer as its callers do.
func askHostile(t *testing.T, endpoint, ask string) {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(*hostileCertificate))
	transport := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	var token azcore.TokenCredential = credential.Token("t")
	if ask == "token" || ask == "metadata" {
		var err error
		token, err = azidentity.NewClientSecretCredential("tenant", "client", "secret", &azidentity.ClientSecretCredentialOptions{
			ClientOptions: policy.ClientOptions{Cloud: newConfiguration(endpoint), Transport: client.ForTokens(transport),
				Retry: policy.RetryOptions{MaxRetries: -1}}, DisableInstanceDiscovery: true,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(token, newConfiguration(endpoint), client.Options{Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	var response *client.Response
	switch ask {
	case "put":
		response, err = c.Put(context.Background(), id, "v", map[string]string{}, "")
	case "list":
		_, err = c.List(context.Background(), string(id), "v", nil)
	default:
		response, err = c.Get(context.Background(), id, "v", nil)
	}
	if response != nil {
		var decoded any
		_ = json.Unmarshal(response.Body, &decoded)
	}
	if err != nil {
		if len(err.Error()) > 10_000 {
			t.Errorf("the error has %d characters", len(err.Error()))
		}
		t.Logf("FAILED %.300s", err)
	}
}

// TestLongErrorTextsAreTruncated checks that an error keeps the beginning of long texts.
func TestLongErrorTextsAreTruncated(t *testing.T) {
	long := strings.Repeat("é", 20_000)
	details := strings.Repeat(`{"code":"`+long+`","message":"`+long+`"},`, 50)
	body := `{"error":{"code":"` + long + `","message":"` + long + `","target":"` + long + `","details":[` + strings.TrimSuffix(details,
		",") + `]}}`
	for name, text := range map[string]string{"in bounds": body[:0] + `{"error":{"code":"` + long + `","message":"` + long +
		`","target":"` + long + `","details":[{"code":"` + long + `"}]}}`, "too long": body, "no JSON": long} {
		failure := client.ParseError([]byte(text))
		if length := len(failure.Error()); length > 20_000 || len(failure.Code) > 200 || len(failure.Message) > 5_000 ||
			len(failure.Details) > 20 {
			t.Errorf("%s: the error has %d characters", name, length)
		}
		if !strings.HasSuffix(failure.Message, "...") {
			t.Errorf("%s: the text has no mark of its truncation: %q", name, failure.Message)
		}
	}
	c := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Ms-Error-Code", "Named")
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w, body)
	})
	_, err := c.Get(context.Background(), id, "v", nil)
	var failure *arm.Error
	if !errors.As(err, &failure) || failure.Status != http.StatusConflict || failure.Code != "Named" ||
		!strings.Contains(failure.Message, "too large") {
		t.Errorf("an error that is too large keeps its status and the code of its header: %v", err)
	}
}
