package compute

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

const customDataLimit = 87380

// Names and passwords that Azure refuses. Source: the SDK model of OSProfile.
var (
	refusedUsers = []string{"administrator", "admin", "user", "user1", "test", "user2", "test1", "user3", "admin1", "1", "123", "a", "actuser",
		"adm", "admin2", "aspnet", "backup", "console", "david", "guest",
		"john", "owner", "root", "server", "sql", "support", "support_388945a0", "sys", "test2", "test3", "user4", "user5"}
	refusedPasswords = []string{"abc@123", "P@$$w0rd", "P@ssw0rd", "P@ssword123", "Pa$$word", "pass@word1", "Password!", "Password1",
		"Password22", "iloveyou!"}
)

func prepareOSProfile(_ *provider.Call, d *provider.Draft, _ Size) error {
	osp := "properties.osProfile."
	if err := hideData(d); err != nil {
		return err
	}
	password := body.String(d.New, osp+"adminPassword")
	body.Delete(d.New, osp+"adminPassword")
	if body.Child(d.New, "properties.osProfile") == nil {
		if strings.EqualFold(body.String(d.New, "properties.storageProfile.osDisk.createOption"), "FromImage") && d.Old == nil {
			return provider.MissingProperty("osProfile")
		}
		return nil
	}
	body.Default(d.New, osp+"computerName", d.Name)
	body.Default(d.New, osp+"secrets", []any{})
	body.Default(d.New, osp+"allowExtensionOperations", true)
	body.Default(d.New, osp+"requireGuestProvisionSignal", true)
	windows := strings.EqualFold(body.String(d.New, "properties.storageProfile.osDisk.osType"), "Windows")
	if err := checkAccount(d, password, windows); err != nil {
		return err
	}
	if windows {
		body.Default(d.New, osp+"windowsConfiguration.provisionVMAgent", true)
		body.Default(d.New, osp+"windowsConfiguration.enableAutomaticUpdates", true)
		return checkComputerName(d, 15)
	}
	if err := checkComputerName(d, 64); err != nil {
		return err
	}
	return prepareLinux(d, password != "")
}

// hideData takes custom and user data out of the body. User data may be read back with $expand=userData; custom data never comes
// back.
func hideData(d *provider.Draft) error {
	for path, key := range body.Sorted(map[string]string{"properties.osProfile.customData": "customData", "properties.userData": "userData"}) {
		data := body.String(d.New, path)
		body.Delete(d.New, path)
		if data == "" {
			continue
		}
		if _, err := base64.StdEncoding.DecodeString(data); err != nil || len(data) > customDataLimit {
			return provider.InvalidParameter(key, "Custom data in OSProfile must be in Base64 encoding and with a maximum length of %d characters.",
				customDataLimit)
		}
		if old := body.String(d.Secret, key); d.Old != nil && key == "customData" && old != data {
			return provider.Errorf(409, "PropertyChangeNotAllowed",
				"Changing property 'osProfile.customData' is not allowed.").WithTarget("osProfile.customData")
		}
		d.Secret[key] = data
	}
	return nil
}

// checkAccount checks the administrator's name and, where one is sent, password.
func checkAccount(d *provider.Draft, password string, windows bool) error {
	user, maximum := body.String(d.New, "properties.osProfile.adminUsername"), 64
	low, high := 6, 72
	if windows {
		maximum, low, high = 20, 8, 123
	}
	switch {
	case user == "":
		return provider.MissingProperty("adminUsername")
	case slices.Contains(refusedUsers, strings.ToLower(user)), windows && strings.HasSuffix(user, "."):
		return provider.InvalidParameter("adminUsername",
			"The Admin Username specified is not allowed. For more information about disallowed usernames, see https://aka.ms/vmosprofile")
	case len(user) > maximum:
		return provider.InvalidParameter("adminUsername",
			"The value of parameter 'adminUsername' is invalid: it has %d characters, the maximum is %d.", len(user), maximum)
	case password == "" && windows && d.Old == nil:
		return provider.MissingProperty("adminPassword")
	case password == "":
		return nil
	case slices.Contains(refusedPasswords, password):
		return provider.InvalidParameter("adminPassword", "The specified password is not allowed.")
	case len(password) < low || len(password) > high || !isComplexPassword(password):
		return provider.InvalidParameter("adminPassword",
			"The supplied password must be between %d-%d characters long and must satisfy at least 3 of password complexity requirements from the following:\r\n1) Contains an uppercase character\r\n2) Contains a lowercase character\r\n3) Contains a numeric digit\r\n4) Contains a special character\r\n5) Control characters are not allowed", low, high)
	}
	return nil
}

// isComplexPassword reports whether a password has characters of three of the four kinds and no control characters.
func isComplexPassword(password string) bool {
	kinds := map[string]bool{}
	for _, r := range password {
		switch {
		case unicode.IsControl(r):
			return false
		case unicode.IsUpper(r):
			kinds["upper"] = true
		case unicode.IsLower(r):
			kinds["lower"] = true
		case unicode.IsDigit(r):
			kinds["digit"] = true
		default:
			kinds["special"] = true
		}
	}
	return len(kinds) >= 3
}

const refusedInNames = "`~!@#$%^&*()=+_[]{}\\|;:.'\",<>/? "

var numeric = regexp.MustCompile(`^\d+$`)

// checkComputerName checks the name that the operating system gets.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftcompute
func checkComputerName(d *provider.Draft, maximum int) error {
	name := body.String(d.New, "properties.osProfile.computerName")
	const refused = "` ~ ! @ # $ % ^ & * ( ) = + _ [ ] { } \\ | ; : . ' \" , < > / ?."
	if maximum == 15 {
		if len(name) > maximum || numeric.MatchString(name) || strings.ContainsAny(name, refusedInNames) {
			return provider.InvalidParameter("computerName",
				"Windows computer name cannot be more than 15 characters long, be entirely numeric, or contain the following characters: %s", refused)
		}
		return nil
	}
	// Names of Linux machines may have dots.
	if len(name) > maximum || strings.ContainsAny(name, strings.ReplaceAll(strings.ReplaceAll(refusedInNames, ".", ""), "_", "")) {
		return provider.InvalidParameter("computerName",
			"Linux host name cannot exceed 64 characters in length or contain the following characters: %s", refused)
	}
	return nil
}

func prepareLinux(d *provider.Draft, hadPassword bool) error {
	osp := "properties.osProfile."
	ssh := body.Objects(d.New, osp+"linuxConfiguration.ssh.publicKeys")
	if body.Bool(d.New, osp+"linuxConfiguration.disablePasswordAuthentication") && len(ssh) == 0 {
		return provider.InvalidParameter("linuxConfiguration.ssh.publicKeys",
			"Authentication using either SSH or by user name and password must be enabled in Linux profile.")
	}
	if d.Old == nil && !hadPassword && len(ssh) == 0 {
		return provider.InvalidParameter("adminPassword",
			"Authentication using either SSH or by user name and password must be enabled in Linux profile.")
	}
	for _, k := range ssh {
		if data := body.String(k, "keyData"); !strings.HasPrefix(data, "ssh-") && !strings.HasPrefix(data, "ecdsa-") {
			return provider.InvalidParameter("linuxConfiguration.ssh.publicKeys.keyData",
				"The value of parameter linuxConfiguration.ssh.publicKeys.keyData is invalid.")
		}
	}
	body.Default(d.New, osp+"linuxConfiguration.disablePasswordAuthentication", false)
	body.Default(d.New, osp+"linuxConfiguration.provisionVMAgent", true)
	body.Default(d.New, osp+"linuxConfiguration.patchSettings", body.Object{"patchMode": "ImageDefault", "assessmentMode": "ImageDefault"})
	return nil
}
