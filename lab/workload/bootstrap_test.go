package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretNames(t *testing.T) {
	machine := func(name, secret, provider string) *Object {
		return parseObject(t, `{kind: Machine, metadata: {name: `+name+`}, spec: {bootstrap: {dataSecretName: `+secret+`}}}`,
			parseObject(t, `{kind: KubeadmConfig, metadata: {name: `+name+`}}`),
			parseObject(t, `{kind: AzureMachine, metadata: {name: `+name+`}, spec: {providerID: "`+provider+`"}}`))
	}
	root := parseObject(t, cluster,
		parseObject(t, `{kind: MachineDeployment, metadata: {name: d}}`, machine("a", "a-data", "azure:///subscriptions/S/virtualMachines/A"),
			machine("b", "b-data", "")),
	)
	want := map[string]string{"/subscriptions/s/virtualmachines/a": "a-data"}
	if diff := cmp.Diff(want, root.secretNames()); diff != "" {
		t.Errorf("Secrets of virtual machines (-want +got):\n%s", diff)
	}
}
