package store

import (
	"context"

	"github.com/coursebridge/coursebridge/internal/batch"
	"github.com/coursebridge/coursebridge/internal/domain"
)

// ProvisionAlone is Provision without a batcher, for comparison.
func (s *Store) ProvisionAlone(ctx context.Context, c domain.Caller, in domain.Provision) error {
	_, err := s.provision(ctx, []provisionRequest{{c, in}})
	return err
}

// EmployeeAlone is Employee without a batcher, for comparison.
func (s *Store) EmployeeAlone(ctx context.Context, company int64, externalID string) error {
	_, err := s.readEmployeeAlone(ctx, employeeKey{company, externalID})
	return err
}

// NewEmployeeBatcher is Employee with a batcher on either engine, for comparison.
func (s *Store) NewEmployeeBatcher() func(ctx context.Context, company int64, externalID string) error {
	employees := batch.New(s.readEmployees, batch.Options{})
	return func(ctx context.Context, company int64, externalID string) error {
		_, err := employees.Do(ctx, employeeKey{company, externalID})
		return err
	}
}

// IsExportedInstant, IsExportedBool and IsUnexported describe how ExportCompany treats a column.
func IsExportedInstant(column string) bool { return isInstant(column) }
func IsExportedBool(column string) bool    { return exportedBools[column] }
func IsUnexported(table, column string) bool {
	return unexportedTables[table] || unexportedColumns[column]
}

// AssignAlone is Assign without a batcher, for comparison.
func (s *Store) AssignAlone(ctx context.Context, c domain.Caller, items []domain.BulkItem) error {
	_, err := s.assign(ctx, []assignRequest{{c, items}})
	return err
}
