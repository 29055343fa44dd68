import { defineFaults } from '#lib/fault'

export const devnetFault = defineFaults({
  BAD_MNEMONIC: {
    severity: 'fatal',
    // the words are not shown: they may be somebody's own
    says: (_: Readonly<Record<string, never>>) => 'the mnemonic is not 12 to 24 English words of BIP-39 with a right checksum',
    fix: 'leave --mnemonic out for the well-known test accounts, or correct the words',
  },
  UNKNOWN_FORK: {
    severity: 'fatal',
    says: (d: { fork: string; known: readonly string[] }) => `there is no fork ${JSON.stringify(d.fork)} to begin with`,
    fix: 'basalt help devnet names the forks; a file with seconds after genesis by fork is taken too',
  },
  BAD_FORK_SCHEDULE: {
    severity: 'fatal',
    says: (d: { fork: string; found: string; expected: string }) => `the fork schedule has ${d.fork} at ${d.found}, expected ${d.expected}`,
    fix: 'give seconds after genesis by fork, in the order of the forks: {"ecotone": 2, "fjord": 20}',
  },
  OPTION_UNSUPPORTED_HERE: {
    severity: 'fatal',
    says: (d: { option: string; why: string }) => `${d.option} is not supported: ${d.why}`,
    fix: 'leave it out',
  },
  OTHER_OPTIONS: {
    severity: 'fatal',
    says: (d: { datadir: string; options: readonly string[] }) =>
      `the devnet in ${d.datadir} was made with other options: ${d.options.join('; ')}`,
    fix: 'start it with those it was made with, or name another --datadir',
  },
  DEVNET_FILE_BAD: {
    severity: 'fatal',
    says: (d: { path: string; reason: string }) => `${d.path} does not tell of a devnet: ${d.reason}`,
    fix: 'remove its folder, and a new devnet is made there',
  },
})
