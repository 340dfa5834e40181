package planned_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// marker is in each secret of the objects.
const marker = "marker-4711-of-secrets"

// adminPassword finds the passwords that the manager draws, in the bodies of writes.
var adminPassword = regexp.MustCompile(`"adminPassword":"([^"]+)"`)

// markSecrets puts the marker into all secrets of objects: bootstrap data, protected settings of extensions, and the client secret of the
// identity that it adds. Each machine and pool has an extension then.
func markSecrets(objects []client.Object) []client.Object {
	mark := func(profile *infrav1.VirtualMachineProfile) {
		if len(profile.VMExtensions) == 0 {
			profile.VMExtensions = []infrav1.VMExtension{{Name: "custom", Publisher: "Microsoft.Azure.Extensions", Version: "2.1"}}
		}
		for i := range profile.VMExtensions {
			profile.VMExtensions[i].ProtectedSettings = infrav1.Tags{"commandToExecute": "echo " + marker}
		}
	}
	for _, object := range objects {
		switch o := object.(type) {
		case *corev1.Secret:
			o.Data = map[string][]byte{"value": []byte("#cloud-config\n# " + marker + "\n")}
		case *infrav1.AzureMachine:
			mark(&o.Spec.VirtualMachineProfile)
		case *infrav1.AzureMachinePool:
			mark(&o.Spec.Template.VirtualMachineProfile)
		}
	}
	return append(objects,
		&infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "id", UID: "identity", Generation: 1},
			Spec: infrav1.AzureClusterIdentitySpec{Type: infrav1.ServicePrincipal, TenantID: server.DefaultTenant, ClientID: server.DefaultClientID,
				ClientSecret: corev1.SecretReference{Namespace: "default", Name: "id"}, AllowedNamespaces: &infrav1.AllowedNamespaces{}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "id", UID: "identity-secret"},
			Data: map[string][]byte{"clientSecret": []byte(marker)}})
}

// encodings returns a text in plain and in base64 at each of the three offsets at which it may begin.
func encodings(of string) []string {
	out := []string{of}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", offset) + of))
		out = append(out, encoded[4:len(encoded)-4])
	}
	return out
}

func find(text string, secrets []string) string {
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			return secret
		}
	}
	return ""
}

// TestNoSecretsOfGoldens checks that no plan of a golden input with VMs shows a secret, neither as text nor as JSON. The secrets are in the
// requests, so the test fails if the result shows what they have. Inputs of networks alone send none.
func TestNoSecretsOfGoldens(t *testing.T) {
	sent, passwords, cases := 0, 0, 0
	for _, folder := range vmFolders {
		files, err := filepath.Glob(filepath.Join(folder, "*.in.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no golden inputs: %v", folder, err)
		}
		for _, file := range files {
			cases++
			objects := markSecrets(readGolden(t, file))
			outcome, err := preview.Compute(t.Context(), preview.Options{Objects: append(objects, preview.Namespaces(objects)...),
				Play: clusterapi.PlayRound, Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			secrets, has := encodings(marker), false
			for _, w := range outcome.Writes {
				has = has || find(string(w.Body), secrets) != ""
				for _, password := range adminPassword.FindAllSubmatch(w.Body, -1) {
					passwords++
					secrets = append(secrets, encodings(string(password[1]))...)
				}
			}
			if has {
				sent++
			}
			report, err := outcome.Report(t.Context(), nil)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			inJSON, err := json.Marshal(report)
			if err != nil {
				t.Fatal(err)
			}
			inText := &bytes.Buffer{}
			report.WriteText(inText, true)
			for format, output := range map[string]string{"text": inText.String(), "JSON": string(inJSON)} {
				if secret := find(output, secrets); secret != "" {
					at := strings.Index(output, secret)
					t.Errorf("%s: the plan as %s has the secret %q: ...%s...", file, format, secret, output[max(0, at-200):at+len(secret)])
				}
			}
		}
	}
	t.Logf("%d golden inputs, %d of them with secrets in requests, %d passwords", cases, sent, passwords)
	if sent < cases/3 || passwords == 0 {
		t.Errorf("%d of %d golden inputs send secrets, and %d passwords are sent: the others prove nothing", sent, cases, passwords)
	}
}
