package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/coursebridge/coursebridge/internal/domain"
)

var firstNames = []string{
	"Anna", "Boris", "Carla", "Daan", "Elif", "Farid", "Greta", "Hugo", "Ilze", "Jonas", "Katya", "Liam", "Marta", "Nils",
	"Olga", "Pavel", "Quinn", "Rosa", "Samir", "Tove", "Ursula", "Viktor", "Wanda", "Yusuf", "Zoë", "Александра",
}

var lastNames = []string{
	"Andersen", "Bērziņa", "Costa", "de Vries", "Ekström", "Fischer", "García", "Haddad", "Ivanova", "Jansen", "Kowalski",
	"Lindqvist", "Müller", "Novák", "O’Brien", "Petrov", "Rossi", "Silva", "Tamm", "Weber",
}

// Everybody is tagged with a department and a site.
var (
	departments = []string{"Sales", "Support", "Field service", "Warehouse", "Finance", "Engineering"}
	sites       = []string{"Riga", "Rotterdam", "Porto"}
)

// person returns employee n and their tags. The tags are random, the rest depends on
// n alone.
func person(r *rand.Rand, n int) (domain.Provision, []string) {
	first, last := firstNames[n%len(firstNames)], lastNames[(n*7+n/len(firstNames))%len(lastNames)]
	tags := []string{departments[r.IntN(len(departments))], sites[r.IntN(len(sites))]}
	if r.IntN(4) == 0 {
		tags = append(tags, "Team lead")
	}
	return domain.Provision{
		ExternalID: employeeExternalID(n),
		Email:      fmt.Sprintf("%s.%d@northwind.example", strings.ToLower(asciiOnly(first)), 1001+n),
		Name:       first + " " + last,
	}, tags
}

func employeeExternalID(n int) string { return fmt.Sprintf("HR-%04d", 1001+n) }

func asciiOnly(s string) string {
	out := strings.Map(func(r rune) rune {
		if r < 'A' || r > 'z' {
			return -1
		}
		return r
	}, s)
	if out == "" {
		return "person"
	}
	return out
}

// catalogue is the demo company's courses.
var catalogue = []domain.Course{
	{Name: "Welcome to Northwind", ExternalID: "ONB-101", PassMark: 80_00, AllowedAttempts: 3, Modules: []string{"Who we are", "How we work", "Your first week"}},
	{Name: "Workplace safety", ExternalID: "SAF-200", PassMark: 80_00, AllowedAttempts: 3, Modules: []string{"Moving about", "Lifting", "Fire", "First aid"}},
	{Name: "Information security exam", ExternalID: "SEC-EXAM", IsAssessment: true, PassMark: 75_00, AllowedAttempts: 2, Modules: []string{"Questions"}},
	{Name: "Data protection for people managers", ExternalID: "GDPR-310", PassMark: 80_00, AllowedAttempts: 3, Modules: []string{"Why", "What", "How long"}},
	{Name: "Forklift licence, theory", ExternalID: "FLT-EXAM", IsAssessment: true, PassMark: 90_00, AllowedAttempts: 3, Modules: []string{"Questions"}},
	{Name: "Selling with care", ExternalID: "SAL-120", PassMark: 80_00, AllowedAttempts: 0, Modules: []string{"Listening", "Offering", "Following up"}},
}

// courseSlices are the demo company's slices, each with the index of the course that it is cut
// from.
var courseSlices = []struct {
	course int
	input  domain.SliceInput
}{
	{1, domain.SliceInput{Name: "Workplace safety: office staff", Modules: []int{1, 3}}},
	{3, domain.SliceInput{Name: "Data protection: the essentials", Modules: []int{1, 2}}},
}
