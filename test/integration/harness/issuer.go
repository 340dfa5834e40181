package harness

import (
	"encoding/json"

	"k8s.io/client-go/kubernetes"
)

// TrustTokens has the stage's Azure know the keys that the API server signs tokens of ServiceAccounts with, as Azure does that reads
// them at the issuer's URL, and returns the issuer.
func (s *Stage) TrustTokens() string {
	s.T.Helper()
	client, err := kubernetes.NewForConfig(s.Environment.Config)
	if err != nil {
		s.T.Fatal(err)
	}
	read := func(path string) []byte {
		raw, err := client.RESTClient().Get().AbsPath(path).DoRaw(s.T.Context())
		if err != nil {
			s.T.Fatal(err)
		}
		return raw
	}
	var discovery struct {
		Issuer string `json:"issuer"`
	}
	if err := json.Unmarshal(read("/.well-known/openid-configuration"), &discovery); err != nil {
		s.T.Fatal(err)
	}
	if err := s.Azure.TrustIssuer(discovery.Issuer, read("/openid/v1/jwks")); err != nil {
		s.T.Fatal(err)
	}
	return discovery.Issuer
}
