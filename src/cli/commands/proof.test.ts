import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { isFault } from '#lib/fault'
import { outputRootOf } from '#proofVerifier/proof'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { type ProofJson, recordedProofs } from '#test/harness/proofs/recorded'
import { faultLine } from '../output.ts'
import { proof } from './proof.ts'

const dir = mkdtempSync(join(tmpdir(), 'basalt-proof-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, content: unknown): string => {
  const path = join(dir, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const [contract, predeploy, absent] = recordedProofs().map(({ proof }) => proof) as [ProofJson, ProofJson, ProofJson]
const stateRoot = recordedProofs()[0]?.stateRoot ?? ''
const hash = (byte: string): string => `0x${byte.repeat(32)}`
const word = (key: string): string => `0x${key.slice(2).padStart(64, '0')}`
const good = file('proof.json', predeploy)
const parts = { stateRoot, messagePasserStorageRoot: hash('02'), blockHash: hash('03') }
const outputRoot = outputRootOf(parts)
const output = ['--output-root', outputRoot, '--withdrawal-storage-root', parts.messagePasserStorageRoot, '--block-hash']

/** Runs the command with the words of its command line, as `runCli` does; that would load every other command too. */
async function run(words: readonly string[]) {
  const io = scriptedIo()
  const raw: Record<string, string | true> = {}
  const [name, ...rest] = words
  for (const [i, word] of rest.entries()) if (word.startsWith('--')) raw[word.slice(2)] = word === '--json' || (rest[i + 1] ?? '')
  const command = name === undefined ? proof : proof.commands?.find((one) => one.name === name)
  const code = await command?.run(io, raw, '').catch((error: unknown) => {
    if (!isFault(error)) throw error
    io.err.write(faultLine(error))
    return 2
  })
  return { code, ...io.written }
}

const verify = (path: string, ...args: string[]) => run(['verify', '--proof', path, '--state-root', stateRoot, ...args])

it('cli/commands/proof: prints the account and its slots, from a bare result and from a JSON-RPC answer', async () => {
  const expected = [
    `account:           ${predeploy.address}`,
    'exists:            true',
    'nonce:             0',
    'balance:           0',
    `codeHash:          ${predeploy.codeHash}`,
    `storageHash:       ${predeploy.storageHash}`,
    ...predeploy.storageProof.map(({ key, value }) => `slot ${word(key)}: ${value}`),
    `verified: the account and 3 slots under state root ${stateRoot}\n`,
  ].join('\n')
  expect(await verify(good)).toEqual({ code: 0, out: expected, err: '' })
  const answer = file('answer.json', JSON.stringify({ jsonrpc: '2.0', id: 1, result: predeploy }, null, 2))
  expect(await verify(answer)).toEqual({ code: 0, out: expected, err: '' })
})

it('cli/commands/proof: prints one line of JSON with the quantities of eth_getProof, for an absent account too', async () => {
  const path = file('absent.json', absent)
  const { code, out } = await verify(path, '--json', '--address', absent.address, '--slots', '0x0,0x1234')
  expect([code, out.split('\n').length]).toEqual([0, 2])
  const { address, nonce, balance, codeHash, storageHash, storageProof } = absent
  expect(JSON.parse(out)).toEqual({
    ...{ valid: true, exists: false, address, nonce, balance, codeHash, storageHash, stateRoot },
    slots: storageProof.map(({ key }) => ({ key: word(key), value: '0x0' })),
  })
})

it('cli/commands/proof: verifies an output root', async () => {
  const { code, out } = await verify(good, ...output, parts.blockHash)
  expect([code, out.split('\n').at(-2)]).toEqual([0, `verified: the state root under output root ${outputRoot}`])
  expect(JSON.parse((await verify(good, '--json', ...output, parts.blockHash)).out)).toMatchObject({ valid: true, outputRoot })
  const wrong = await verify(good, ...output, hash('04'))
  expect([wrong.code, wrong.out]).toEqual([1, ''])
  expect(wrong.err).toMatch(/^basalt: .*proof\.json: outputRoot: the parts have the output root .*\(PROOF_OUTPUT_ROOT_DIFFERS\)\n$/)
})

const changed = (name: string, change: Partial<ProofJson>): string => file(name, { ...contract, ...change })
const wrongSlots = contract.storageProof.map((slot) => ({ ...slot, value: '0x7' }))

it.each<[string, string, string[], string[]]>([
  ['another state root', good, ['--state-root', hash('ab')], ['accountProof[0]: its hash is .*PROOF_ROOT_DIFFERS']],
  ['another account', good, ['--address', absent.address], ['address: the proof is of 0x42.*PROOF_ADDRESS_DIFFERS']],
  ['a slot without a proof', good, ['--slots', '0x0,0x9'], ['storageProof: slot 0x0+9 was requested.*PROOF_SLOT_MISSING']],
  [
    'a claimed balance',
    changed('a.json', { balance: '0x1' }),
    [],
    ['balance: "0x1" is claimed, the proof has 0x0\\..*PROOF_VALUE_DIFFERS'],
  ],
  [
    'wrong slots',
    changed('b.json', { storageProof: wrongSlots }),
    [],
    [0, 1, 2].map((i) => `storageProof.${i}..value: .*PROOF_VALUE_DIFFERS`),
  ],
  [
    'a missing node',
    changed('c.json', { accountProof: contract.accountProof.slice(0, 2) }),
    [],
    ['accountProof[2]: the node .*PROOF_NODES_WRONG'],
  ],
  ['JSON of another form', file('d.json', '{"a":1}'), [], ['address: missing, expected 0x.*PROOF_MALFORMED']],
])('cli/commands/proof: writes a line for each wrong part, exit code 1, for %s', async (_what, path, args, lines) => {
  const { code, out, err } = await verify(path, ...args)
  expect([code, out]).toEqual([1, ''])
  const pattern = lines.map((line) => `basalt: ${path}: ${line.replace('[', '\\[').replace(']', '\\]')}\\)\n`).join('')
  expect(err).toMatch(new RegExp(`^${pattern}$`))
  const json = await verify(path, '--json', ...args)
  expect([json.code, json.err, JSON.parse(json.out).valid, JSON.parse(json.out).problems.length]).toEqual([1, '', false, lines.length])
})

it.each<[string, string[], string]>([
  ['no command', [], 'BAD_USAGE'],
  ['no proof', ['verify', '--state-root', stateRoot], 'MISSING_FLAG'],
  ['no state root', ['verify', '--proof', good], 'MISSING_FLAG'],
  ['a short state root', ['verify', '--proof', good, '--state-root', '0x12'], 'BAD_FLAG'],
  ['a slot without 0x', ['verify', '--proof', good, '--state-root', stateRoot, '--slots', '12'], 'BAD_FLAG'],
  ['an output root alone', ['verify', '--proof', good, '--state-root', stateRoot, '--output-root', outputRoot], 'MISSING_FLAG'],
  [
    'an output root without its storage root',
    ['verify', '--proof', good, '--state-root', stateRoot, '--output-root', outputRoot, '--block-hash', hash('03')],
    'MISSING_FLAG',
  ],
  ['a block hash alone', ['verify', '--proof', good, '--state-root', stateRoot, '--block-hash', hash('03')], 'CONFLICTING_FLAGS'],
  ['a file that does not exist', ['verify', '--proof', join(dir, 'none'), '--state-root', stateRoot], 'UNREADABLE_FILE'],
  ['a file without JSON', ['verify', '--proof', file('e.json', '{'), '--state-root', stateRoot], 'BAD_FILE'],
  [
    'an answer with an error',
    ['verify', '--proof', file('g.json', '{"jsonrpc":"2.0","error":{"code":4444}}'), '--state-root', stateRoot],
    'BAD_FILE',
  ],
  [
    'an answer without a result',
    ['verify', '--proof', file('h.json', '{"jsonrpc":"2.0","result":null}'), '--state-root', stateRoot],
    'BAD_FILE',
  ],
])('cli/commands/proof: ends with exit code 2 and one line for %s', async (_what, args, code) => {
  const { code: exit, out, err } = await run(args)
  expect([exit, out]).toEqual([2, ''])
  expect(err).toMatch(new RegExp(`^basalt: .*\\(${code}\\)\\n$`))
})
