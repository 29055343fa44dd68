import { defineFaults } from '#lib/fault'

export const evmFault = defineFaults({
  RULES_UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { fork: string }) => `the interpreter does not know the rules of ${d.fork}`,
    fix: 'use a version that supports this fork',
  },
})
