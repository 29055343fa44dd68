import { defineFaults } from '#lib/fault'

export const cliFault = defineFaults({
  BAD_FLAG: {
    severity: 'fatal',
    says: (d: { flag: string; value: string; expected: string }) => `--${d.flag}: ${JSON.stringify(d.value)} is not ${d.expected}`,
    fix: 'give the flag (or its environment variable) a value of that form; basalt help COMMAND lists them',
  },
  MISSING_FLAG: {
    severity: 'fatal',
    says: (d: { flag: string; doc: string }) => `--${d.flag} is needed: ${d.doc}`,
    fix: 'give the flag, or set its environment variable',
  },
  UNSUPPORTED: {
    severity: 'fatal',
    says: (d: { what: string }) => `${d.what} is not supported yet`,
    fix: 'leave it out',
  },
  CONFLICTING_FLAGS: {
    severity: 'fatal',
    says: (d: { flags: readonly string[]; rule: string }) => `${d.flags.map((flag) => `--${flag}`).join(', ')}: ${d.rule}`,
    fix: 'give one or the other; basalt help node tells what each is for',
  },
  UNREADABLE_FILE: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `cannot read ${d.path}: ${d.reason}`,
    fix: 'check the path and its permissions',
  },
  BAD_FILE: {
    severity: 'fatal',
    says: (d: { path: string; expected: string; reason: string }) => `${d.path} is not ${d.expected}: ${d.reason}`,
    fix: 'check that it is the right file and that it is whole',
  },
})
