// Package aksengine converts an API model of aks-engine, version vlabs, into manifests of a self-managed cluster. It accounts for every
// value of the model: a value is in the manifests, has an equivalent, or is reported with the reason and the remedy.
//
// It is a pure function of the model. The report has paths and names of objects, never a value, and a secret of the model is in neither result.
package aksengine
