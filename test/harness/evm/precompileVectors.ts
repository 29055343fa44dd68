import type { EvmFork } from '#chainspec/evmRules'
import { precompileAt } from '../../../src/evm/precompiles/precompileAt.ts'

/** Public vector, hex without `0x`. A vector that must fail has `ExpectedError` and neither output nor gas. */
export type PrecompileVector = {
  readonly Name: string
  readonly Input: string
  readonly Expected?: string
  readonly ExpectedError?: string
  readonly Gas?: number
}

/** Precompile of a file, and the forks whose outputs and prices its vectors have. */
type Subject = { readonly address: bigint; readonly forks: readonly EvmFork[]; readonly withoutPrices?: boolean }

const toPrague: readonly EvmFork[] = ['paris', 'shanghai', 'cancun', 'prague']
const always: readonly EvmFork[] = [...toPrague, 'osaka']
const fromPrague: readonly EvmFork[] = ['prague', 'osaka']

const subjects: Readonly<Record<string, Subject>> = {
  ecRecover: { address: 0x01n, forks: always },
  // prices of EIP-198, which Berlin replaced
  modexp: { address: 0x05n, forks: always, withoutPrices: true },
  modexp_eip2565: { address: 0x05n, forks: toPrague },
  modexp_eip7883: { address: 0x05n, forks: ['osaka'] },
  bn256Add: { address: 0x06n, forks: always },
  bn256ScalarMul: { address: 0x07n, forks: always },
  bn256Pairing: { address: 0x08n, forks: always },
  blake2F: { address: 0x09n, forks: always },
  blake2f: { address: 0x09n, forks: always },
  pointEvaluation: { address: 0x0an, forks: ['cancun', ...fromPrague] },
  blsG1Add: { address: 0x0bn, forks: fromPrague },
  blsG1Mul: { address: 0x0cn, forks: fromPrague },
  blsG1MultiExp: { address: 0x0cn, forks: fromPrague },
  blsG2Add: { address: 0x0dn, forks: fromPrague },
  blsG2Mul: { address: 0x0en, forks: fromPrague },
  blsG2MultiExp: { address: 0x0en, forks: fromPrague },
  blsPairing: { address: 0x0fn, forks: fromPrague },
  blsMapG1: { address: 0x10n, forks: fromPrague },
  blsMapG2: { address: 0x11n, forks: fromPrague },
  p256Verify: { address: 0x100n, forks: ['osaka'] },
}

/** Rules without OP's input limits; P256VERIFY has the price of EIP-7951. */
const rulesOf = (fork: EvmFork): Parameters<typeof precompileAt>[0] => ({ fork, precompileLimits: {}, p256VerifyGas: 6900 })

/** Address of the precompile that a file's vectors are for. */
export function precompileOfVectors(file: string): bigint | undefined {
  return subjectOf(file)?.address
}

function subjectOf(file: string): Subject | undefined {
  return subjects[file.replace(/^fail-/, '')]
}

/**
 * Runs the vectors of one file, once for each distinct contract at the file's address in its forks.
 * @param file name without `.json`
 * @returns the differences, one line each
 */
export function wrongVectors(file: string, vectors: readonly PrecompileVector[]): string[] {
  const subject = subjectOf(file)
  if (!subject) return [`${file}: unknown file of vectors`]
  const wrong: string[] = []
  const seen = new Set<unknown>()
  for (const fork of subject.forks) {
    const precompile = precompileAt(rulesOf(fork), subject.address)
    if (!precompile) wrong.push(`${file}: no precompile in ${fork}`)
    else if (!seen.has(precompile))
      wrong.push(...vectors.flatMap((vector) => wrongVector(precompile, vector, subject)).map((line) => `${fork} ${line}`))
    seen.add(precompile)
  }
  return wrong
}

function wrongVector(
  precompile: NonNullable<ReturnType<typeof precompileAt>>,
  { Name, Input, Expected, ExpectedError, Gas }: PrecompileVector,
  { withoutPrices }: Subject,
): string[] {
  const input = Uint8Array.from(Buffer.from(Input, 'hex'))
  const output = precompile.run(input)
  const got = output === undefined ? 'failure' : Buffer.from(output).toString('hex')
  const expected = ExpectedError === undefined ? Expected : 'failure'
  const wrong: string[] = []
  if (got !== expected) wrong.push(`${Name}: got ${got.slice(0, 64)}, expected ${expected?.slice(0, 64)}`)
  const gas = precompile.gas(input)
  if (Gas !== undefined && !withoutPrices && gas !== BigInt(Gas)) wrong.push(`${Name}: got gas ${gas}, expected ${Gas}`)
  return wrong
}
