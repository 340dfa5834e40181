// Package gitops has the health checks of Argo CD and Flux as releases ship them. They are data.
package gitops

import _ "embed"

var (
	// ArgoCDHealth is the part of Argo CD's ConfigMap with the checks in Lua.
	//
	//go:embed argocd-health.yaml
	ArgoCDHealth []byte
	// FluxHealth is a Kustomization of Flux with the checks in CEL.
	//
	//go:embed flux-health.yaml
	FluxHealth []byte
)
