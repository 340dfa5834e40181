package vm

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// MaxBootstrapData is the largest number of bytes that Azure takes as custom data: 87380 characters in base64.
// https://learn.microsoft.com/en-us/azure/virtual-machines/custom-data
const MaxBootstrapData = 65535

// CheckBootstrapData checks that Azure takes the bootstrap data. path is the field with the name of their Secret, secret its value.
func CheckBootstrapData(data []byte, path *field.Path, secret *string) field.ErrorList {
	if len(data) <= MaxBootstrapData {
		return nil
	}
	name := ""
	if secret != nil {
		name = *secret
	}
	return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("the bootstrap data have %d bytes, and Azure takes at most %d: "+
		"shorten the files of the bootstrap configuration, or download them in its preKubeadmCommands", len(data), MaxBootstrapData))}
}
