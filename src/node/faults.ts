import { defineFaults } from '#lib/fault'

export const nodeFault = defineFaults({
  OPTION_UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { option: string }) => `this version does not support ${d.option}`,
    fix: 'remove the option',
  },
  OPTION_MISSING: {
    severity: 'fatal',
    says: (d: { mode: string; option: string }) => `--mode ${d.mode} needs ${d.option}`,
    fix: 'set it, or choose another mode: all, execution, consensus',
  },
})
