module sigs.k8s.io/cluster-api-provider-azure/test/recordings

go 1.26.0

require (
	go.yaml.in/yaml/v3 v3.0.6
	sigs.k8s.io/cluster-api-provider-azure v0.0.0
)

require (
	go.yaml.in/yaml/v2 v2.4.4 // indirect
	k8s.io/apimachinery v0.36.3 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

replace sigs.k8s.io/cluster-api-provider-azure => ../..
