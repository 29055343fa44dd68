import { type Invalid, messagePasser, type ProofVerdict, type Trusted, verifyOutputRoot, verifyProof } from '#proofVerifier/proof'
import type { Command, CommandBody, Io } from '../command.ts'
import { cliFault } from '../faults.ts'
import { readJsonInput } from '../files.ts'
import type { FlagName, FlagValues } from '../flags.ts'
import { faultLine, printResult } from '../output.ts'
import { needed, readFlags } from '../readFlags.ts'

const verifying = [
  'proof',
  'state-root',
  'address',
  'slots',
  'output-root',
  'block-hash',
  'withdrawal-storage-root',
  'json',
] as const satisfies readonly FlagName[]
type Given = FlagValues<(typeof verifying)[number]>
type Valid = Extract<ProofVerdict, { kind: 'valid' }>

/** Longest file, in characters: a proof of 4,096 slots of a large state has about half as many. */
const maxChars = 2 ** 26

/** Returns the result in a JSON-RPC answer, or a bare result. @throws Fault BAD_FILE for an answer without a result */
function resultIn(json: unknown, path: string): unknown {
  if (typeof json !== 'object' || json === null || 'accountProof' in json || !('jsonrpc' in json)) return json
  if ('result' in json && json.result !== null) return json.result
  const reason = 'error' in json ? `the answer is an error: ${JSON.stringify(json.error)?.slice(0, 200)}` : 'the answer has no result'
  throw cliFault('BAD_FILE', { path, expected: 'a result of eth_getProof', reason })
}

/** Refuses flags that have no effect without another. @throws Fault MISSING_FLAG, CONFLICTING_FLAGS (fatal) */
function checkFlags(given: Given): void {
  if (given['output-root'] !== undefined) needed('block-hash', given['block-hash'])
  for (const flag of ['block-hash', 'withdrawal-storage-root'] as const)
    if (given[flag] !== undefined && given['output-root'] === undefined)
      throw cliFault('CONFLICTING_FLAGS', { flags: [flag], rule: 'has no effect without --output-root' })
}

/** Verifies that the output root commits to the state root. */
function outputVerdict(given: Given, stateRoot: string, { account }: Valid): { readonly kind: 'valid' } | Invalid {
  const proved = account.address === messagePasser ? account.storageHash : undefined
  return verifyOutputRoot(given['output-root'] ?? '', {
    stateRoot,
    messagePasserStorageRoot: needed('withdrawal-storage-root', given['withdrawal-storage-root'] ?? proved),
    blockHash: given['block-hash'] ?? '',
  })
}

function report(io: Io, path: string, { problems }: Invalid, json: boolean): number {
  if (json) io.out.write(`${JSON.stringify({ valid: false, problems })}\n`)
  else for (const { code, at, reason } of problems) io.err.write(faultLine(cliFault(`PROOF_${code}`, { path, at, reason })))
  return 1
}

const quantity = (value: bigint): string => `0x${value.toString(16)}`

function print(io: Io, { account, slots }: Valid, stateRoot: string, given: Given): void {
  const { address, exists, nonce, balance, codeHash, storageHash } = account
  const outputRoot = given['output-root']
  if (given.json) {
    const values = { address, exists, nonce: quantity(nonce), balance: quantity(balance), codeHash, storageHash }
    const proved = { ...values, slots: slots.map(({ key, value }) => ({ key, value: quantity(value) })) }
    io.out.write(`${JSON.stringify({ valid: true, ...proved, stateRoot, ...(outputRoot !== undefined && { outputRoot }) })}\n`)
    return
  }
  printResult(io, false, { account: address, exists, nonce: nonce.toString(), balance: balance.toString(), codeHash, storageHash })
  for (const { key, value } of slots) io.out.write(`slot ${key}: ${quantity(value)}\n`)
  io.out.write(`verified: the account and ${slots.length} ${slots.length === 1 ? 'slot' : 'slots'} under state root ${stateRoot}\n`)
  if (outputRoot !== undefined) io.out.write(`verified: the state root under output root ${outputRoot}\n`)
}

const verify: Command = {
  name: 'verify',
  doc: 'verify a result of eth_getProof against a state root, without a node; exit code 1 when it is wrong',
  flags: verifying,
  async run(io, raw): Promise<number> {
    const given = readFlags(verifying, raw, io.env)
    const [path, stateRoot] = [needed('proof', given.proof), needed('state-root', given['state-root'])]
    checkFlags(given)
    const trusted: Trusted = {
      stateRoot,
      ...(given.address !== undefined && { address: given.address }),
      ...(given.slots !== undefined && { slots: given.slots }),
    }
    const verdict = verifyProof(resultIn(await readJsonInput(path, maxChars), path), trusted)
    if (verdict.kind === 'invalid') return report(io, path, verdict, given.json)
    const output = given['output-root'] === undefined ? undefined : outputVerdict(given, stateRoot, verdict)
    if (output?.kind === 'invalid') return report(io, path, output, given.json)
    print(io, verdict, stateRoot, given)
    return 0
  },
}

export const proof: CommandBody = {
  flags: [],
  commands: [verify],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt proof needs a command: verify' })),
}
