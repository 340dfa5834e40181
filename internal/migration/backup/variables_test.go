package backup

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestReadVariables reads the settings of an installed manager.
func TestReadVariables(t *testing.T) {
	deployment := func(arguments ...string) client.Object {
		out := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: "capz-controller-manager"}}
		out.Spec.Template.Spec.Containers = []corev1.Container{{Args: arguments}}
		return out
	}
	secret := func(subscription string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: "capz-manager-bootstrap-credentials"},
			Data: map[string][]byte{"subscription-id": []byte(subscription), "client-secret": []byte("hidden")}}
	}
	settings := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: "aso-controller-settings"},
		Data: map[string][]byte{"AZURE_AUTHORITY_HOST": []byte("https://login.chinacloudapi.cn/"), "AZURE_RESOURCE_MANAGER_AUDIENCE": []byte(""),
			"AZURE_RESOURCE_MANAGER_ENDPOINT": []byte("https://management.chinacloudapi.cn"), "AZURE_CLIENT_SECRET": []byte("hidden")}}
	for name, test := range map[string]struct {
		reason  string
		objects []client.Object
		want    map[string]string
	}{
		"no manager": {reason: "a run was interrupted while clusterctl replaced it", want: map[string]string{}},
		"all": {
			reason:  "the backup has no credentials",
			objects: []client.Object{deployment("--leader-elect", "--feature-gates=MachinePool=true, EdgeZone=true,Other=true"), secret("one")},
			want:    map[string]string{"EXP_MACHINE_POOL": "true", "EXP_EDGEZONE": "true", "AZURE_SUBSCRIPTION_ID_B64": "b25l"},
		},
		"cloud": {
			reason:  "objects of AzureASOManaged kinds have no cloud of their own, and a backup has no credentials",
			objects: []client.Object{settings},
			want: map[string]string{"AZURE_AUTHORITY_HOST": "https://login.chinacloudapi.cn/",
				"AZURE_RESOURCE_MANAGER_ENDPOINT": "https://management.chinacloudapi.cn"},
		},
		"defaults": {reason: "an empty value is none", objects: []client.Object{deployment(), secret("")}, want: map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readVariables(t.Context(), fake.NewClientBuilder().WithObjects(test.objects...).Build())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestGateVariables compares the variables of feature gates with those of the release's manifest.
func TestGateVariables(t *testing.T) {
	manifest, err := os.ReadFile("../../../config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, match := range regexp.MustCompile(`(\w+)=\$\{(EXP_\w+):=`).FindAllStringSubmatch(string(manifest), -1) {
		want[match[1]] = match[2]
	}
	if diff := cmp.Diff(want, gateVariables); diff != "" {
		t.Errorf("variables of feature gates (-manifest +here):\n%s", diff)
	}
}
