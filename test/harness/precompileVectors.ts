import { precompileAt } from '../../src/evm/precompiles/precompileAt.ts'

/** One public vector: hex without `0x`; a vector that fails has `ExpectedError` and neither output nor gas. */
export type PrecompileVector = {
  readonly Name: string
  readonly Input: string
  readonly Expected?: string
  readonly ExpectedError?: string
  readonly Gas?: number
}

const addresses: Readonly<Record<string, bigint>> = {
  ecRecover: 0x01n,
  modexp: 0x05n,
  modexp_eip2565: 0x05n,
  bn256Add: 0x06n,
  bn256ScalarMul: 0x07n,
  bn256Pairing: 0x08n,
  blake2F: 0x09n,
  blake2f: 0x09n,
  pointEvaluation: 0x0an,
  blsG1Add: 0x0bn,
  blsG1Mul: 0x0cn,
  blsG1MultiExp: 0x0cn,
  blsG2Add: 0x0dn,
  blsG2Mul: 0x0en,
  blsG2MultiExp: 0x0en,
  blsPairing: 0x0fn,
  blsMapG1: 0x10n,
  blsMapG2: 0x11n,
  p256Verify: 0x100n,
}

/** Prague, without OP's input limits; the vectors of P256VERIFY have the price of EIP-7951. */
const rules = { fork: 'prague', precompileLimits: {}, p256VerifyGas: 6900 } as const

/** Prices of EIP-198, which Berlin replaced: only the outputs are of use. */
const withOldPrices: readonly string[] = ['modexp']

/**
 * Runs the vectors of one file.
 * @param file its name without `.json`
 * @returns what came out other than expected, a line each
 */
export function wrongVectors(file: string, vectors: readonly PrecompileVector[]): string[] {
  const address = addresses[file.replace(/^fail-/, '')]
  const precompile = address === undefined ? undefined : precompileAt(rules, address)
  if (!precompile) return [`${file}: no precompile for these vectors`]
  const wrong: string[] = []
  for (const { Name, Input, Expected, ExpectedError, Gas } of vectors) {
    const input = Uint8Array.from(Buffer.from(Input, 'hex'))
    const output = precompile.run(input)
    const got = output === undefined ? 'failure' : Buffer.from(output).toString('hex')
    const expected = ExpectedError === undefined ? Expected : 'failure'
    if (got !== expected) wrong.push(`${Name}: ${got.slice(0, 64)} for ${expected?.slice(0, 64)}`)
    const gas = precompile.gas(input)
    if (Gas !== undefined && !withOldPrices.includes(file) && gas !== BigInt(Gas)) wrong.push(`${Name}: gas ${gas} for ${Gas}`)
  }
  return wrong
}
