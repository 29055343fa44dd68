/** Values of options of a devnet, apart from the code that uses them: the tables of flags need them at every start. */

export const dataAvailabilities = ['calldata', 'blobs', 'auto'] as const
export type DataAvailability = (typeof dataAvailabilities)[number]

/** Types of a policy with members, in the order of the registry: a blocklist forbids its members, an allowlist all other accounts. */
export const policyTypes = ['blocklist', 'allowlist'] as const
export type PolicyType = (typeof policyTypes)[number]

/** Maximum number of accounts; each costs some milliseconds at the start. */
export const maxAccounts = 100
