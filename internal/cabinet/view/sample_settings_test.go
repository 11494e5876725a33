package view_test

import (
	"time"

	"github.com/coursebridge/coursebridge/internal/cabinet/view"
)

func settingsSamples() []sample {
	company := view.CompanySettings{Name: "Baltic Freight", TimeZone: "Europe/Riga", TimeZones: []string{"America/New_York", "Europe/Berlin", "Europe/Riga", "UTC"}, DeadlineDays: "30", KeepBodies: true, Masked: []string{"email", "name"}}
	wrong := company
	wrong.DeadlineDays, wrong.Errors = "0", view.Errors{"deadlineDays": "Enter a number from 1 to 3650."}
	people := view.Administrators{List: []view.Administrator{
		{ID: 1, Name: "Anna Bērziņa", Email: "anna.berzina@baltic-freight.example", Self: true, SecondFactor: true, AddedAt: ago(300 * 24 * time.Hour), AddedBy: "operator", LastSignIn: ptr(ago(time.Hour))},
		{ID: 2, Email: "maximiliane.von-hohenstein-oberdorf@vereinigte-wasserwirtschaft.example", AddedAt: ago(30 * 24 * time.Hour), AddedBy: "Anna Bērziņa", LastSignIn: ptr(ago(6 * 24 * time.Hour))},
		{ID: 3, Name: "Jānis", Email: "janis@baltic-freight.example", Invited: true, AddedAt: ago(5 * time.Minute), AddedBy: "Anna Bērziņa"},
	}}
	at := "/cabinet/settings"
	return []sample{
		{"settings", view.CompanySettingsPage(longShell(at), company)},
		{"settings-wrong", view.CompanySettingsPage(shell(at), wrong)},
		{"administrators", view.AdministratorsPage(longShell(at), people)},
		{"administrators-one", view.AdministratorsPage(shell(at), view.Administrators{List: people.List[:1]})},
		{"invite", view.InvitePage(shell(at), view.InviteForm{Email: "no", Errors: view.Errors{"email": "Enter an address such as name@example.com."}})},
		{"invited", view.InvitedPage(shell(at), view.Invited{Email: "janis@baltic-freight.example", URL: "https://learn.example.com/cabinet/enter/4fXq0V9sKz2mNbT7yRw1LpE8uHc3JdGa5QiSo6YtB0x", ExpiresAt: now.Add(72 * time.Hour)})},
		{"administrator-remove", view.ConfirmPage(shell(at), view.AdministratorRemove(people.List[1]))},
	}
}

func accountSamples() []sample {
	list := []view.Session{
		{ID: 1, Device: "Firefox on Linux", Agent: "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", Address: "203.0.113.7", Current: true, SeenAt: ago(2 * time.Second), CreatedAt: ago(3 * time.Hour)},
		{ID: 2, Device: "Safari on iPhone", Agent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)", Address: "2001:db8:85a3::8a2e:370:7334", SeenAt: ago(26 * time.Hour), CreatedAt: ago(8 * 24 * time.Hour)},
	}
	at := "/cabinet/settings/sign-in"
	return []sample{
		{"my-sign-in", view.MySignInPage(shell(at), view.MySignIn{Email: "anna@baltic-freight.example"})},
		{"my-sign-in-on", view.MySignInPage(longShell(at), view.MySignIn{Email: "anna@baltic-freight.example", SecondFactor: true, SecondSince: ptr(ago(80 * 24 * time.Hour)), RecoveryLeft: 2, PasswordChanged: ptr(ago(80 * 24 * time.Hour)), PasswordErrors: view.Errors{"current": "This is not your current password."}})},
		{"second-factor", view.SecondFactorSetupPage(shell(at), view.SecondFactorSetup{Secret: "JBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP", QR: checkered(29), Errors: view.Errors{"code": "This code is not right. Check that the clock of your phone is."}})},
		{"recovery-codes", view.RecoveryCodesPage(shell(at), view.RecoveryCodes{Codes: []string{"k4m2p-9xq7t", "a8s3d-f6g1h", "z2x5c-v8b4n", "q1w9e-r7t3y", "u6i2o-p4a8s", "d5f1g-h9j3k", "l7z4x-c2v6b", "n8m3q-w5e1r", "t9y6u-i3o7p", "a2s4d-f8g5h"}})},
		{"second-factor-remove", view.PasswordPage(shell(at), view.AskSecondOff.With(view.Errors{"current": "This is not your password."}))},
		{"sessions", view.SessionsPage(longShell(at), view.Sessions{List: list})},
		{"sessions-one", view.SessionsPage(shell(at), view.Sessions{List: list[:1]})},
		{"sessions-end-others", view.ConfirmPage(shell(at), view.SessionsEndOthers(1))},
	}
}

// checkered stands for a QR code.
func checkered(side int) [][]bool {
	rows := make([][]bool, side)
	for y := range rows {
		rows[y] = make([]bool, side)
		for x := range rows[y] {
			rows[y][x] = (x*y+x+y)%3 == 0
		}
	}
	return rows
}
