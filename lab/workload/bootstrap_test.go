package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretNames(t *testing.T) {
	machine := func(name, secret, provider string) *Object {
		return object(t, `{kind: Machine, metadata: {name: `+name+`}, spec: {bootstrap: {dataSecretName: `+secret+`}}}`,
			object(t, `{kind: KubeadmConfig, metadata: {name: `+name+`}}`),
			object(t, `{kind: AzureMachine, metadata: {name: `+name+`}, spec: {providerID: "`+provider+`"}}`))
	}
	root := object(t, cluster,
		object(t, `{kind: MachineDeployment, metadata: {name: d}}`, machine("a", "a-data", "azure:///subscriptions/S/virtualMachines/A"),
			machine("b", "b-data", "")),
	)
	want := map[string]string{"/subscriptions/s/virtualmachines/a": "a-data"}
	if diff := cmp.Diff(want, root.secretNames()); diff != "" {
		t.Errorf("Secrets of virtual machines (-want +got):\n%s", diff)
	}
}
