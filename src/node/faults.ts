import { defineFaults } from '#lib/fault'

export const nodeFault = defineFaults({
  OPTION_UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { option: string }) => `this version cannot do that yet: ${d.option}`,
    fix: 'leave the option away',
  },
  OPTION_MISSING: {
    severity: 'fatal',
    says: (d: { mode: string; option: string }) => `--mode ${d.mode} needs ${d.option}`,
    fix: 'give it, or choose another mode: all, execution, consensus',
  },
})
