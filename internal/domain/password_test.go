package domain_test

import (
	"strings"
	"testing"

	"github.com/coursebridge/coursebridge/internal/domain"
)

func TestCheckPassword(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"violet tram engine", "Tr0ub4dor&3-again", "надёжный пароль 7", strings.Repeat("aB3$e", 51), "zxc9-violet-87!k",
	} {
		if err := domain.CheckPassword(good, "anna@x.test"); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for password, why := range map[string]string{
		"short":                        "at least 12",
		"elevenchars":                  "at least 12",
		strings.Repeat("aB3$e", 52):    "at most 256",
		"anna@x.test.example":          "e-mail",
		"Anna.Smith@X.TEST":            "e-mail",
		"anna.smith2026":               "e-mail",
		"aaaaaaaaaaaaaa":               "easy",
		"123456789012":                 "easy",
		"qwertyuiopasdf":               "easy",
		"Password2026!":                "easy",
		"correct horse battery staple": "easy",
		"ab\xffcdefghijklm":            "UTF-8",
	} {
		email := "anna.smith@x.test"
		if strings.HasPrefix(password, "anna@") {
			email = "anna@x.test.example"
		}
		if err := domain.CheckPassword(password, email); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want something about %q", password, err, why)
		}
	}
}

func TestNormalizePassword(t *testing.T) {
	t.Parallel()
	if domain.NormalizePassword("caf\u00e9") != domain.NormalizePassword("cafe\u0301") {
		t.Error("two ways to type é give two passwords")
	}
}
