package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor"
	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	azureroles "sigs.k8s.io/cluster-api-provider-azure/templates/azure-roles"
)

// member is the client of the identity in the manifests, which has the rights that a test grants.
const member = "22222222-2222-2222-2222-222222222222"

const subscription = "/subscriptions/" + server.DefaultSubscription

const aksManifest = "testdata/c1.yaml"

// selfManagedManifest has an identity whose token is in a file.
const selfManagedManifest = "../../preview/command/testdata/default.yaml"

// TestMain hides the management clusters of the machine from the tests, except those that they name.
func TestMain(m *testing.M) {
	_ = os.Setenv("KUBECONFIG", filepath.Join(os.TempDir(), "no-kubeconfig-of-doctor")) // The name is valid.
	os.Exit(m.Run())
}

// stage is a simulated Azure that enforces roles, with the manager's identity.
type stage struct {
	*azuretest.Azure
	t *testing.T
	// manifest is the content of the file that is checked.
	manifest  string
	transport func(*http.Request) error
	// answer answers a request in place of Azure; a nil answer is Azure's.
	answer func(*http.Request) *http.Response
	user   bool
	// kubeconfig is the file with the connection to the management cluster, tokenFile that with the token of a workload identity; "" is none.
	kubeconfig, tokenFile string
	// context is that of --context.
	context string
	// flags are those of the verb.
	flags []string
}

func newStage(t *testing.T, manifest string, change func(*server.Options)) *stage {
	t.Helper()
	raw, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	azure := azuretest.Start(t, func(o *server.Options) {
		o.Clock, o.TimeScale = store.Real{}, 0
		o.EnforceRBAC, o.Owners = true, []string{server.DefaultClientID}
		o.Principals = append(o.Principals, server.Principal{ClientID: member, Secret: "other-secret"})
		if change != nil {
			change(o)
		}
	})
	return &stage{Azure: azure, t: t, manifest: string(raw)}
}

// Do implements policy.Transporter.
func (s *stage) Do(request *http.Request) (*http.Response, error) {
	if s.transport != nil {
		if err := s.transport(request); err != nil {
			return nil, err
		}
	}
	if s.answer != nil {
		if answer := s.answer(request); answer != nil {
			answer.Request = request
			return answer, nil
		}
	}
	return s.Client.Do(request)
}

// grant assigns the actions of a role of the release, and more, to the identity, as az role assignment create does.
func (s *stage) grant(role string, except string, more ...string) {
	s.t.Helper()
	var actions []string
	for _, action := range append(readActions(s.t, role), more...) {
		if action != except {
			actions = append(actions, action)
		}
	}
	if err := s.Grant("77777777-7777-4777-8777-777777777777", member, subscription, actions); err != nil {
		s.t.Fatal(err)
	}
}

// readActions returns the actions of a role of the release.
func readActions(t *testing.T, role string) []string {
	t.Helper()
	raw, err := azureroles.Files.ReadFile(role + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var definition struct{ Actions []string }
	if err := json.Unmarshal(raw, &definition); err != nil {
		t.Fatal(err)
	}
	return definition.Actions
}

// readerActions are those of Reader.
const readerActions = "*/read"

// register registers a resource provider, as az provider register does.
func (s *stage) register(namespace string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost,
		s.Endpoint+subscription+"/providers/"+namespace+"/register?api-version=2021-04-01", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token(server.DefaultClientID))
	response, err := s.Client.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		s.t.Fatalf("register %s: status %d", namespace, response.StatusCode)
	}
}

func (s *stage) replace(old, with string) {
	s.t.Helper()
	if !strings.Contains(s.manifest, old) {
		s.t.Fatalf("the manifest does not contain %q", old)
	}
	s.manifest = strings.ReplaceAll(s.manifest, old, with)
}

// run runs the verb.
func (s *stage) run(arguments ...string) (string, error) {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "c1.yaml")
	if err := os.WriteFile(file, []byte(s.manifest), 0o600); err != nil {
		s.t.Fatal(err)
	}
	e := &environment.Environment{
		Version: "test", Transport: s, Kubeconfig: s.kubeconfig,
		OpenFile:   func(name string) (io.ReadCloser, error) { return os.Open(name) },
		OpenFolder: func(string) (fs.FS, bool) { return nil, false },
		Identity: identity.Options{AuthorityHost: s.Authority, ResourceManagerEndpoint: s.Endpoint, ResourceManagerAudience: azuretest.Audience,
			TokenFile: s.tokenFile},
		Credential: noCredential{},
	}
	e.Overrides.CurrentContext = s.context
	if s.user {
		e.Credential = userCredential{s}
	}
	verb := command.NewCommand(e)
	verb.SilenceUsage, verb.SilenceErrors = true, true
	out := &bytes.Buffer{}
	verb.SetOut(out)
	verb.SetErr(io.Discard)
	verb.SetArgs(slices.Concat([]string{"-f", file}, s.flags, arguments))
	err := verb.ExecuteContext(s.t.Context())
	return out.String(), err
}

// failures returns the lines that did not pass.
func (s *stage) failures() (out []doctor.Check) {
	s.t.Helper()
	raw, err := s.run("-o", "json")
	report := doctor.Report{}
	if decodeErr := json.Unmarshal([]byte(raw), &report); decodeErr != nil {
		s.t.Fatalf("%v: %v\n%s", err, decodeErr, raw)
	}
	for _, check := range report.Checks {
		if check.Status != doctor.Passed {
			out = append(out, check)
		}
		if (check.Fix == "") != (check.Status == doctor.Passed) {
			s.t.Errorf("a line has a command if it did not pass, and no other: %+v", check)
		}
	}
	want := environment.CodeDone
	if len(out) > 0 {
		want = environment.CodeFound
	}
	if got := environment.ExitCode(err); got != want {
		s.t.Errorf("exit code %d, want %d: %v", got, want, err)
	}
	return out
}

// TestFailures makes every check fail once. The command of the line, or the change that it leads to, makes it pass.
func TestFailures(t *testing.T) {
	const lists = "az vm list-skus --resource-type virtualMachines --location eastus --size Standard_D --all --output table"
	granted := func(s *stage) { s.grant("aks", "", readerActions) }
	tests := map[string]struct {
		reason   string
		manifest string
		change   func(*server.Options)
		prepare  func(*stage)
		// want is the only line that does not pass. Its message contains the text.
		want doctor.Check
		// fix does the same as the command. Nil if the simulator cannot.
		fix func(*stage)
	}{
		"egress": {reason: "a firewall cuts the connection", prepare: func(s *stage) {
			granted(s)
			s.transport = func(r *http.Request) error {
				if strings.Contains(r.URL.Path, "/metadata/endpoints") {
					return errors.New("connection refused")
				}
				return nil
			}
		}, want: doctor.Check{Check: doctor.CheckEgress, Status: doctor.Failed, Subject: "Azure Resource Manager", Message: "cannot be reached: connection refused",
			Fix: "curl --verbose 'ENDPOINT/metadata/endpoints?api-version=2015-01-01'"},
			fix: func(s *stage) { s.transport = nil }},
		"secret": {reason: "the client secret is not valid any more", prepare: func(s *stage) {
			granted(s)
			s.replace("other-secret", "expired-secret")
		}, want: doctor.Check{Check: doctor.CheckCredentials, Status: doctor.Failed, Subject: "AzureClusterIdentity default/cluster-identity",
			Message: "AADSTS7000215: Invalid client secret provided",
			Fix:     `kubectl create secret generic cluster-identity-secret --namespace default --dry-run=client --output yaml --from-literal=clientSecret="$(az ad app credential reset --id ` + member + ` --append --query password --output tsv)" | kubectl apply --filename -`},
			fix: func(s *stage) { s.replace("expired-secret", "other-secret") }},
		"no Secret": {reason: "the Secret does not exist", prepare: func(s *stage) {
			granted(s)
			s.replace("name: cluster-identity-secret\n  namespace: default\nstring", "name: other\n  namespace: default\nstring")
		}, want: doctor.Check{Check: doctor.CheckCredentials, Status: doctor.Failed, Subject: "AzureClusterIdentity default/cluster-identity",
			Message: "there is no Secret default/cluster-identity-secret", Fix: "kubectl create secret generic cluster-identity-secret"},
			fix: func(s *stage) {
				s.replace("name: other\n  namespace: default\nstring", "name: cluster-identity-secret\n  namespace: default\nstring")
			}},
		"outage of Entra ID": {reason: "another credential would not help", prepare: func(s *stage) {
			granted(s)
			s.answer = func(r *http.Request) *http.Response {
				if !strings.HasSuffix(r.URL.Path, "/token") {
					return nil
				}
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(strings.NewReader(
					`{"error":"temporarily_unavailable","error_description":"AADSTS90033: A transient error has occurred. Please try again."}`))}
			}
		}, want: doctor.Check{Check: doctor.CheckCredentials, Status: doctor.Failed, Subject: "AzureClusterIdentity default/cluster-identity",
			Message: "answers with status 503: AADSTS90033: A transient error has occurred.",
			Fix:     "curl --verbose ENDPOINT/common/v2.0/.well-known/openid-configuration"},
			fix: func(s *stage) { s.answer = nil }},
		"application": {reason: "the application does not exist", prepare: func(s *stage) {
			granted(s)
			s.replace("clientID: "+member, "clientID: 33333333-3333-3333-3333-333333333333")
		}, want: doctor.Check{Check: doctor.CheckCredentials, Status: doctor.Failed, Subject: "AzureClusterIdentity default/cluster-identity",
			Message: "AADSTS700016", Fix: "az ad sp show --id 33333333-3333-3333-3333-333333333333"},
			fix: func(s *stage) { s.replace("33333333-3333-3333-3333-333333333333", member) }},
		"subscription": {reason: "another subscription is named", prepare: func(s *stage) {
			granted(s)
			s.replace("subscriptionID: "+server.DefaultSubscription, "subscriptionID: 99999999-9999-9999-9999-999999999999")
		}, want: doctor.Check{Check: doctor.CheckCredentials, Status: doctor.Failed, Subject: "AzureClusterIdentity default/cluster-identity",
			Message: "has no role in subscription 99999999-9999-9999-9999-999999999999",
			Fix:     "az role assignment create --role Contributor --assignee " + member + " --scope /subscriptions/99999999-9999-9999-9999-999999999999"},
			fix: func(s *stage) { s.replace("99999999-9999-9999-9999-999999999999", server.DefaultSubscription) }},
		"rights": {reason: "an action of the role is missing", prepare: func(s *stage) {
			s.grant("aks", "Microsoft.ContainerService/managedClusters/write", readerActions)
		}, want: doctor.Check{Check: doctor.CheckRights, Status: doctor.Failed, Subject: "role aks",
			Message: fmt.Sprintf("lacks 1 of %d actions in ", len(readActions(t, "aks"))) + subscription + ": Microsoft.ContainerService/managedClusters/write.",
			Fix: "sed -i 's#/subscriptions/00000000-0000-0000-0000-000000000000#" + subscription + "#' azure-role-aks.json && " +
				"az role definition create --role-definition @azure-role-aks.json && " +
				"az role assignment create --role 'Cluster API Provider Azure: aks' --assignee " + member + " --scope " + subscription},
			fix: granted},
		"rights that cannot be read": {reason: "exactly the role of the release is granted, which cannot read permissions, and no user is signed in",
			prepare: func(s *stage) {
				s.grant("aks", "", "Microsoft.Resources/subscriptions/providers/read", "Microsoft.ContainerService/locations/*", "Microsoft.Compute/locations/*",
					"Microsoft.Network/locations/*")
			}, want: doctor.Check{Check: doctor.CheckRights, Status: doctor.Unknown, Subject: subscription, Message: "cannot be read",
				Fix: "az role assignment create --role Reader --assignee " + member + " --scope " + subscription},
			fix: granted},
		"provider": {reason: "the subscription is new", change: func(o *server.Options) { o.Unregistered = []string{"Microsoft.ContainerService"} },
			prepare: granted, want: doctor.Check{Check: doctor.CheckProviders, Status: doctor.Failed, Subject: "Microsoft.ContainerService",
				Message: "not registered in " + subscription,
				Fix:     "az provider register --wait --namespace Microsoft.ContainerService --subscription " + server.DefaultSubscription},
			fix: func(s *stage) { s.register("Microsoft.ContainerService") }},
		"providers that cannot be read": {reason: "the identity may not list providers, and no user is signed in", prepare: func(s *stage) {
			s.grant("aks", "", "Microsoft.Authorization/*/read", "Microsoft.ContainerService/locations/*", "Microsoft.Compute/locations/*",
				"Microsoft.Network/locations/*")
		}, want: doctor.Check{Check: doctor.CheckProviders, Status: doctor.Unknown, Subject: subscription,
			Message: "Microsoft.Resources/subscriptions/providers/read",
			Fix:     "az role assignment create --role Reader --assignee " + member + " --scope " + subscription},
			fix: func(s *stage) { s.user = true }},
		"size": {reason: "a size that no region has", prepare: func(s *stage) {
			granted(s)
			s.replace("Standard_D2s_v3", "Standard_D2x_v3")
		}, want: doctor.Check{Check: doctor.CheckSizes, Status: doctor.Failed, Subject: "Standard_D2x_v3 in eastus",
			Message: "needs a size that the region does not have. Similar ones are Standard_D2", Fix: lists},
			fix: func(s *stage) { s.replace("Standard_D2x_v3", "Standard_D2s_v3") }},
		"restricted size": {reason: "the subscription may not use the size in the region", prepare: func(s *stage) {
			granted(s)
			s.replace("location: eastus", "location: southcentralus")
			s.replace("Standard_D2s_v3", "Standard_DC4ads_v5")
		}, want: doctor.Check{Check: doctor.CheckSizes, Status: doctor.Failed, Subject: "Standard_DC4ads_v5 in southcentralus",
			Message: "needs a size that the subscription cannot use in the region: NotAvailableForSubscription. Request access, or change the size in the manifest.",
			Fix:     "az vm list-skus --resource-type virtualMachines --location southcentralus --size Standard_DC --all --output table"},
			fix: func(s *stage) { s.replace("Standard_DC4ads_v5", "Standard_D2s_v3") }},
		"zone": {reason: "the region has no such zone for the size", prepare: func(s *stage) {
			granted(s)
			s.replace("sku: Standard_D2s_v3", "sku: Standard_D2s_v3\n  availabilityZones: [\"1\", \"4\"]")
		}, want: doctor.Check{Check: doctor.CheckSizes, Status: doctor.Failed, Subject: "Standard_D2s_v3 in eastus",
			Message: "needs zone 4, in which the subscription cannot create this size. It can in zones 1, 2, 3.", Fix: lists},
			fix: func(s *stage) { s.replace(`["1", "4"]`, `["1", "3"]`) }},
		"version": {reason: "AKS has retired the version", prepare: func(s *stage) {
			granted(s)
			s.replace("v1.33.2", "v1.27.9")
		}, want: doctor.Check{Check: doctor.CheckVersions, Status: doctor.Failed, Subject: "Kubernetes 1.27.9 in eastus",
			Message: "needs a version that AKS does not offer. It offers 1.35.0, 1.34.2, 1.33.6,",
			Fix:     "az aks get-versions --output table --location eastus"},
			fix: func(s *stage) { s.replace("v1.27.9", "v1.33.2") }},
		"family": {reason: "the family has fewer cores than the pool needs",
			change: func(o *server.Options) { o.Quota = map[string]int{"standardDSv3Family": 3} }, prepare: granted,
			want: doctor.Check{Check: doctor.CheckQuota, Status: doctor.Failed, Subject: "standardDSv3Family in eastus",
				Message: "need 4 of standardDSv3Family vCPUs, and 3 of 3 are free. Raise the limit to at least 4",
				Fix: "az quota update --resource-name standardDSv3Family --scope " + subscription +
					"/providers/Microsoft.Compute/locations/eastus --limit-object value=4 --resource-type dedicated"}},
		"cores": {reason: "the region has fewer cores than the machines need", manifest: selfManagedManifest,
			change: func(o *server.Options) { o.Quota = map[string]int{"cores": 5} }, prepare: func(s *stage) {
				s.grant("self-managed", "", readerActions)
				s.replace("clientID: 11111111-1111-1111-1111-111111111111", "clientID: "+member)
				s.replace("type: WorkloadIdentity", "type: ServicePrincipal\n  clientSecret:\n    name: secret\n    namespace: default")
				s.manifest += "\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: secret\n  namespace: default\nstringData:\n  clientSecret: other-secret\n"
			},
			want: doctor.Check{Check: doctor.CheckQuota, Status: doctor.Failed, Subject: "cores in eastus",
				Message: "need 6 of Total Regional vCPUs, and 5 of 5 are free. Raise the limit to at least 6",
				Fix: "az quota update --resource-name cores --scope " + subscription +
					"/providers/Microsoft.Compute/locations/eastus --limit-object value=6 --resource-type dedicated"},
			fix: func(s *stage) { s.replace("replicas: 2", "replicas: 1") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.manifest == "" {
				test.manifest = aksManifest
			}
			s := newStage(t, test.manifest, test.change)
			test.prepare(s)
			test.want.Fix = strings.ReplaceAll(test.want.Fix, "ENDPOINT", s.Endpoint)
			got := s.failures()
			if len(got) != 1 {
				t.Fatalf("%s: %d lines did not pass, want 1:\n%+v", test.reason, len(got), got)
			}
			if strings.Contains(got[0].Message, test.want.Message) {
				got[0].Message = test.want.Message
			}
			if strings.HasPrefix(got[0].Fix, test.want.Fix) && test.want.Fix != "" && name == "no Secret" {
				got[0].Fix = test.want.Fix
			}
			if diff := gocmp.Diff(test.want, got[0]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if test.fix == nil {
				return
			}
			test.fix(s)
			if after := s.failures(); len(after) > 0 {
				t.Errorf("%s: the fix leaves %+v", test.reason, after)
			}
		})
	}
}

// TestRoleAloneSuffices checks that an identity with exactly the role of the release passes if a user may read: Azure lets it read neither
// its own permissions nor providers and quotas.
func TestRoleAloneSuffices(t *testing.T) {
	s := newStage(t, aksManifest, nil)
	s.grant("aks", "")
	s.user = true
	if got := s.failures(); len(got) > 0 {
		t.Errorf("lines that did not pass: %+v", got)
	}
	for _, request := range s.Requests() {
		if request.Method != http.MethodGet && !strings.Contains(request.URL, "/token") {
			t.Errorf("%s %s changes Azure", request.Method, request.URL)
		}
	}
}

// TestText compares the whole text of a report.
func TestText(t *testing.T) {
	s := newStage(t, aksManifest, func(o *server.Options) { o.Unregistered = []string{"Microsoft.ContainerService"} })
	s.grant("aks", "", readerActions)
	out, err := s.run()
	if !errors.As(err, new(environment.FoundError)) {
		t.Fatalf("%v\n%s", err, out)
	}
	want := fmt.Sprintf(`ok       egress       Entra ID: %[1]s answers.
ok       egress       Azure Resource Manager: %[1]s answers.
ok       credentials  AzureClusterIdentity default/cluster-identity: Client %[2]s signs in to tenant %[3]s, and may use subscription %[4]s.
ok       rights       role aks: The identity has all %[5]d actions.
FAILED   providers    Microsoft.ContainerService: The resource provider is not registered in /subscriptions/%[4]s.
                      fix: az provider register --wait --namespace Microsoft.ContainerService --subscription %[4]s
ok       providers    Microsoft.Network: The resource provider is registered.
ok       sizes        Standard_D2s_v3 in eastus: The size is available.
ok       versions     Kubernetes 1.33.2 in eastus: AKS offers the version.
ok       quota        Microsoft.Compute in eastus: The free quota is enough: cores 4 of 20000, standardDSv3Family 4 of 10000, virtualMachines 2 of 25000.
ok       quota        Microsoft.Network in eastus: The free quota is enough: VirtualNetworks 1 of 1000.
note: No management cluster was read. Identities and Secrets that the manifests lack count as missing. kubeconfig: invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable
9 of 10 checks passed.
`, s.Endpoint, member, server.DefaultTenant, server.DefaultSubscription, len(readActions(t, "aks")))
	if diff := gocmp.Diff(want, out); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if strings.Contains(out, "other-secret") {
		t.Error("the report has a secret")
	}
}

// TestUnknownField misspells a field. A note names it, because the API server drops it.
func TestUnknownField(t *testing.T) {
	s := newStage(t, aksManifest, nil)
	s.grant("aks", "", readerActions)
	s.replace("resourceGroupName:", "resouceGroupName: shared\n  resourceGroupName:")
	out, err := s.run()
	want := "note: AzureManagedControlPlane c1: spec.resouceGroupName is not a field of AzureManagedControlPlane and has no effect. Did you mean resourceGroupName?\n"
	if err != nil || !strings.Contains(out, want) {
		t.Errorf("%v, and the report lacks %q:\n%s", err, want, out)
	}
}

// TestWrongCluster names a management cluster that the kubeconfig does not have. Its identities are not reported as missing.
func TestWrongCluster(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c}}],
		clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		reason, kubeconfig, context, want string
	}{
		"context": {"the name is misspelt", kubeconfig, "production", "context was not found for specified context: production"},
		"file":    {"the file is elsewhere", filepath.Join(t.TempDir(), "none"), "", "none: no such file or directory"},
		"context of no file": {"the user has named a cluster, and there is no kubeconfig", "", "production",
			"context was not found for specified context: production"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, aksManifest, nil)
			s.grant("aks", "", readerActions)
			s.kubeconfig, s.context = test.kubeconfig, test.context
			out, err := s.run()
			if err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
				t.Errorf("%s: got %v, want %q\n%s", test.reason, err, test.want, out)
			}
		})
	}
}

// TestPage runs the commands of the book's page that need no management cluster.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/book/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(page)) {
		words, is := strings.CutPrefix(strings.TrimSpace(line), "kubectl capz doctor -f c1.yaml")
		if !is {
			continue
		}
		ran++
		s := newStage(t, aksManifest, nil)
		s.grant("aks", "", readerActions)
		words, _, _ = strings.Cut(words, "||")
		if out, err := s.run(strings.Fields(words)...); err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if ran != 6 {
		t.Errorf("the page has %d commands, want 6", ran)
	}
	for _, command := range []string{createNamespaceToken, createManagerToken} {
		if !strings.Contains(string(page), "\n"+command+"\nexport AZURE_FEDERATED_TOKEN_FILE=token\n") {
			t.Errorf("the page does not have the command of the line: %s", command)
		}
	}
}
