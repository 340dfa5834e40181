package virtual

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// TestRunOutside lets a client outside of the bubble create a resource through the proxy, by Azure's own host name.
func TestRunOutside(t *testing.T) {
	outside := ListenOutside(t)
	pem, err := os.ReadFile(outside.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	proxy, err := url.Parse(strings.TrimPrefix(outside.Environment[0], "HTTPS_PROXY="))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}}}
	failed := errors.New("the program failed")
	PlayWith(t, Options{AtOnce: true, Azure: server.Options{Seed: 7}}, func(s *Scenario) {
		token, path := s.Sim.Token(s.Azure.ClientID), string(s.ResourceID("resourceGroups/outside"))
		begin := time.Now()
		err := s.RunOutside(outside, func() error {
			request, err := http.NewRequest(http.MethodPut, "https://management.azure.com"+path+"?api-version=2021-04-01",
				strings.NewReader(`{"location": "eastus"}`))
			if err != nil {
				return err
			}
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Content-Type", "application/json")
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusCreated {
				return fmt.Errorf("PUT %s: %s", path, response.Status)
			}
			return failed
		})
		if !errors.Is(err, failed) {
			s.T.Errorf("got %v, want the program's error", err)
		}
		if _, ok := s.FindResource("resourceGroups/outside"); !ok {
			s.T.Error("the scenario does not have the resource")
		}
		if passed := time.Since(begin); passed != time.Second {
			s.T.Errorf("one request took %s of virtual time, want 1s", passed)
		}
	})
}
