package bare

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	azureroles "sigs.k8s.io/cluster-api-provider-azure/templates/azure-roles"
	"sigs.k8s.io/cluster-api-provider-azure/test/azureshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// unregistered are the resource providers that the subscription has not registered: all that a flavor or the page might use.
var unregistered = []string{"Microsoft.Compute", "Microsoft.ContainerService", "Microsoft.KubernetesConfiguration", "Microsoft.ManagedIdentity",
	"Microsoft.Network", "Microsoft.ResourceHealth", "Microsoft.Storage"}

// azureOptions are those of a simulated Azure in which roles count for everybody but the user of the page.
func azureOptions() server.Options {
	return server.Options{Seed: 7, Locations: []string{"eastus", "westus"}, Throttle: harness.Unlimited, EnforceRBAC: true,
		Owners: []string{server.DefaultClientID}, Unregistered: unregistered}
}

// subscription is what the commands of a page made of a new subscription.
type subscription struct {
	// snapshot is Azure afterwards, and variables are those that the commands export.
	snapshot  []byte
	variables map[string]string
	// duration is how long Azure's operations took.
	duration time.Duration
}

// Sections of the page that not every user needs.
const (
	kind     = "kind"
	withKind = "With kind"
	aks      = "AKS"
	others   = "Other flavors"
	deletion = "Delete everything"
)

// prepared are the subscriptions of the page by the additional role, "" for none. The commands run once for each.
var prepared = map[string]*subscription{}

// prepare returns the subscription of the page with an additional role, "" for none.
func prepare(t *testing.T, role string) *subscription {
	t.Helper()
	if prepared[role] == nil {
		lines := pageLines(t, func(heading string) bool {
			return heading != kind && heading != others && heading != deletion && heading != withKind
		})
		if role != "" {
			more := roleLines(t, role)
			if len(more) != 3 {
				t.Fatalf("the page has %d commands for the role %s, want 3: %q", len(more), role, more)
			}
			lines = append(lines, more...)
		}
		made := runCommands(t, lines)
		prepared[role] = &made
	}
	return prepared[role]
}

// roleLines returns the commands of the page that create and assign an additional role.
func roleLines(t *testing.T, role string) (out []string) {
	t.Helper()
	all := pageLines(t, func(heading string) bool { return heading == others })
	for i, line := range all {
		if strings.Contains(line, " azure-role-"+role+".json ") {
			out = all[i:min(i+3, len(all))]
		}
	}
	return out
}

// additionalRoles returns the additional role of each flavor that the page's table has, "" for none.
func additionalRoles(t *testing.T) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(flavors.ReadPage(t, "", "getting-started.md"), "| Flavor | Additional role | Also needs |\n|---|---|---|\n")
	table, _, found := strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("the page has no table of flavors")
	}
	out := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		for name := range strings.SplitSeq(cells[1], ",") {
			name, role := strings.Trim(name, " `"), strings.Trim(cells[2], " `")
			out[name] = cmp.Or(out[name], role)
		}
	}
	return out
}

// pageLines returns the commands of sections of the page.
func pageLines(t *testing.T, include func(heading string) bool) []string {
	t.Helper()
	return azureshell.PageLines(flavors.ReadPage(t, "", "getting-started.md"), include)
}

// runCommands runs commands in a new subscription, in a folder with the role definitions of a release.
func runCommands(t *testing.T, lines []string) subscription {
	t.Helper()
	options := azureOptions()
	begun := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := store.NewVirtual(begun)
	options.Clock = clock
	options.TimeScale = 1
	azure, err := server.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer azure.Close()
	shell := &azureshell.Shell{Azure: azure, ClientID: server.DefaultClientID, Secret: server.DefaultSecret, Folder: t.TempDir()}
	roles, err := azureroles.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		raw, err := azureroles.Files.ReadFile(role.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(shell.Folder, "azure-role-"+role.Name()), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	variables := shell.Run(t, lines)
	var snapshot bytes.Buffer
	if err := azure.Snapshot(&snapshot); err != nil {
		t.Fatal(err)
	}
	return subscription{snapshot: snapshot.Bytes(), variables: variables, duration: clock.Now().Sub(begun)}
}

// issuer signs tokens of ServiceAccounts as the management cluster does.
type issuer struct {
	url string
	key *rsa.PrivateKey
}

var issuerKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// newIssuer returns an issuer whose keys Entra ID finds at its URL.
func newIssuer(t *testing.T, azure *server.Server, url string) *issuer {
	t.Helper()
	key, err := issuerKey()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := json.Marshal(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "management",
		"n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes())}}})
	if err == nil {
		err = azure.TrustIssuer(url, keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{url: url, key: key}
}

func (i *issuer) issueToken(account client.ObjectKey, audience string, lifetime time.Duration) string {
	header, _ := json.Marshal(map[string]any{"alg": "RS256", "typ": "JWT", "kid": "management"})
	now := time.Now()
	claims, _ := json.Marshal(map[string]any{"iss": i.url, "sub": "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		"aud": []string{audience}, "iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(lifetime).Unix()})
	signed := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // The key has the right size.
	}
	return signed + "." + encode(signature)
}
