import { expect, it } from 'vitest'
import { evmRulesAt } from '#chainspec/opRules'
import { createWasmEvm } from '#evm/wasmEvm'
import { bigintFromBytes, bytesFromBigint, concatBytes } from '#lib/bytes'
import { fromHex } from '#lib/hex'
import { scheduleTo } from '#test/harness/chain/blocks'
import { osaka, push } from '#test/harness/evm/host'
import {
  type Attack,
  attack,
  endsOf,
  forever,
  type HostileAccount,
  none,
  numbered,
  padded,
  type Run,
  reference,
  seen,
  target,
  wasm,
} from '#test/harness/evm/hostilePrograms'
import { sampleOf } from '#test/harness/sample'

const jovian = evmRulesAt(scheduleTo('jovian'), 0)
const granite = evmRulesAt(scheduleTo('granite'), 0)
/** Gas limit of a block, and a much higher one. */
const blockGas = 400_000_000n
const hugeGas = 2n ** 48n
/** Gas of a flood, which repeats one step. */
const floodGas = sampleOf(blockGas / 4n, blockGas)

const hex = (byte: number): string => byte.toString(16).padStart(2, '0')
const allBytes = Array.from({ length: 256 }, (_, byte) => hex(byte))
const at = (code: string): readonly HostileAccount[] => [{ address: target, code }]

/** Expects both interpreters to end in the same way. @returns the run */
function agree(of: Omit<Attack, 'rules'> & Partial<Attack>): Run {
  const parts = { rules: jovian, ...of }
  const found = attack(wasm, parts)
  expect(seen(found)).toEqual(seen(attack(reference, parts)))
  return found
}

/** Runs on the compiled interpreter, which must end without a fault. */
function survives(of: Omit<Attack, 'rules'> & Partial<Attack>, evm = wasm): string {
  return attack(evm, { rules: jovian, ...of }).outcome.kind
}

// ---- malformed code

/** One opcode of each kind. */
const kinds = ['00', '0a', '20', '37', '3c', '3e', '50', '52', '55', '56', '57', '5a', '5b', '5d', '60', '7f', '80', '9f', 'a2', 'f0', 'f1', 'f3', 'fd', 'fe'] // biome-ignore format: a list

const programs: Readonly<Record<string, () => string[]>> = {
  'of one byte': () => allBytes,
  'of two bytes': () => allBytes.flatMap((a) => kinds.flatMap((b) => [a + b, b + a])),
  'of three bytes on seventeen words': () => kinds.flatMap((a) => kinds.flatMap((b) => kinds.map((c) => '6001'.repeat(17) + a + b + c))),
  'of a PUSH that is cut off by the end of the code': () =>
    Array.from({ length: 32 }, (_, n) => Array.from({ length: n + 1 }, (_, bytes) => hex(0x60 + n) + 'ab'.repeat(bytes))).flat(),
  'of 24 KB of one opcode': () => allBytes.map((op) => op.repeat(24_576)),
  'of 24 KB of one opcode on seventeen words': () => allBytes.map((op) => '6001'.repeat(17) + op.repeat(24_542)),
  'of 24 KB of one opcode between jump targets': () => allBytes.map((op) => `${op}5b`.repeat(12_288)),
}
it.each(Object.keys(programs))('evm: ends programs %s like the reference', { timeout: 60_000 }, (name) => {
  const all = programs[name]?.() ?? []
  const found = endsOf(wasm, osaka, all, 60_000n)
  const expected = endsOf(reference, osaka, all, 60_000n)
  const different = found.ends.filter((end, i) => end !== expected.ends[i])
  expect(different.slice(0, 5)).toEqual([])
  expect(found.diff).toBe(expected.diff)
})

it.each([
  ['24 KB', 24_576],
  ['48 KB', 49_152],
])('evm: charges initcode of %s made of loops, jump targets or constants', (_size, size) => {
  for (const [head, unit] of [
    ['', '5b'],
    ['5b5f56', '5b'],
    ['5b5a506000565b', '5f19'],
    ['60015b6001018060021015600257', '6001'],
    ['', '5f50'],
  ] as const)
    agree({ accounts: [], to: null, data: fromHex(padded(head, unit, size) as `0x${string}`), gas: 3_000_000n })
})

// ---- memory

const growing: Readonly<Record<string, string>> = {
  'to 100 KB': `${push(7)}${push(100_000)}52`,
  'by its gas': `${push(7)}5a60081c52`,
  'by twice its gas': `${push(7)}5a60071c52`,
}
const callsItself = '5f5f5f5f5f305af1'
it.each(Object.entries(growing))('evm: runs nested frames that grow their memory %s', (_how, grow) => {
  const accounts = at(`0x${grow}${callsItself}59525a5f5260205ff3`)
  for (const gas of [1_000_000n, 30_000_000n]) agree({ accounts, gas })
  expect(['success', 'halt']).toContain(survives({ accounts, gas: 3n * blockGas }))
})

it('evm: grows memory up to the gas limit in one frame, and returns all of it', () => {
  agree({ accounts: at(`0x${push(1)}${push(3_800_000)}52595ff3`), gas: 30_000_000n })
  expect(survives({ accounts: at(`0x${push(1)}${push(14_000_000)}52595ff3`), gas: blockGas })).toBe('success')
  expect(survives({ accounts: at(`0x${push(1)}${push(24_000_000)}52595ffd`), gas: 3n * blockGas })).toBe('revert')
  expect(survives({ accounts: at(`0x${push(1)}${push(2n ** 40n)}52`), gas: hugeGas })).toBe('halt')
})

// ---- depth

/** Adds one to the result of the inner call. */
const countsFrames = '505f51600101' + '5f5260205ff3'
it.each([
  ['CALL', `60205f5f5f5f305af1${countsFrames}`],
  ['CALLCODE', `60205f5f5f5f305af2${countsFrames}`],
  ['DELEGATECALL', `60205f5f5f305af4${countsFrames}`],
  ['STATICCALL', `60205f5f5f305afa${countsFrames}`],
])('evm: ends a %s of itself at a depth of 1,024', (_op, code) => {
  const { outcome } = agree({ accounts: at(`0x${code}`), gas: hugeGas })
  expect(bigintFromBytes(outcome.output)).toBe(1_025n)
  agree({ accounts: at(`0x${code}`), gas: 3_000_000n })
})

it.each([
  ['CREATE', '385f5f39385f5ff05f5260205ff3'],
  ['CREATE2', '385f5f395a385f5ff55f5260205ff3'],
])('evm: ends a %s of itself at a depth of 1,024', (_op, code) => {
  const { diff } = agree({ accounts: [], to: null, data: fromHex(`0x${code}`), gas: hugeGas })
  // each frame up to the depth limit leaves an account with a hash, a nonce and a code
  expect(diff.length).toBeGreaterThan(1_024 * 2 * (32 + 8 + 32))
  agree({ accounts: [], to: null, data: fromHex(`0x${code}`), gas: 3_000_000n })
})

// ---- much of one thing

const floods: Readonly<Record<string, string>> = {
  'KECCAK256 in a straight line': forever('', `${push(4_096)}5f2050`),
  'KECCAK256 of two hundred kilobytes': forever('', `${push(200_000)}5f2050`),
  'CALLDATACOPY of a range beyond the data': forever('', `${push(200_000)}5f5f37`),
  'CODECOPY of a range beyond the code': forever('', `${push(200_000)}5f5f39`),
  'EXTCODECOPY of a range beyond the code': forever('', `${push(200_000)}5f5f303c`),
  'MCOPY to an overlapping range': forever('', `${push(200_000)}5f${push(33)}5e`),
  'RETURNDATACOPY of all return data': forever(`5f5f${push(200_000)}5f${push(4)}5afa50`, '3d5f5f3e'),
  'calls of the identity': forever('', `5f5f${push(100_000)}5f${push(4)}5afa50`),
  'TSTORE of new slots': forever('5a', '5a5a5d'),
  'TSTORE of one slot': forever('', '5a5f5d'),
  'SSTORE of new slots': forever('', '5a5a55'),
  'SSTORE of one slot': forever('', '5a5f55'),
  'LOG0 of nothing': forever('', '5f5fa0'),
  'LOG4 of nothing': forever('5f5f5f5f', '838383835f5fa4'),
  'LOG0 of a hundred kilobytes': forever('', `${push(100_000)}5fa0`),
  'SLOAD of cold slots': forever('', '5a5450'),
  'BALANCE of cold accounts': forever('', '5a3150'),
  'EXTCODEHASH of cold accounts': forever('', '5a3f50'),
  'calls of cold accounts that are out of gas': forever('', '5f5f5f5f5f5a60c8f150'),
  'calls that revert their warm slots': forever('', `5f5f5f5f5f${push(BigInt(numbered(1)))}${push(20_000)}f150`),
  'creations of nothing': forever('', '5f5f5ff050'),
  'SELFDESTRUCT of created contracts': forever('', `61${'30ff'}5f52${push(2)}${push(30)}5ff05f5f5f5f5f855af15050`),
}
const reverting: HostileAccount = { address: numbered(1), code: '0x5a545a31505a5a5d5f5ffd' }
/** Slow floods run with less gas. */
const slow = /KECCAK|identity|creations|created/
it.each(Object.entries(floods))('evm: survives a flood of %s', { timeout: 60_000 }, (name, code) => {
  const accounts = [...at(code), reverting]
  agree({ accounts, gas: 3_000_000n })
  expect(survives({ accounts, gas: slow.test(name) ? 10_000_000n : floodGas })).toBe('halt')
})

it.each([
  ['180,000 cold slots', '8054', 180_000, 0],
  ['150,000 cold accounts', '8031', 150_000, 0],
  ['200,000 cold slots', '8054', 200_000, 100_000_000],
])('evm: keeps %s of one transaction', (_what, read, count, more) => {
  // reads n, n - 1 … 1; n is the calldata
  const code = `5f355b${read}50600190038060025700`
  const data = (times: number): Uint8Array => bytesFromBigint(BigInt(times), 32)
  agree({ accounts: at(`0x${code}`), data: data(2_000), gas: 10_000_000n })
  expect(survives({ accounts: at(`0x${code}`), data: data(count), gas: blockGas + BigInt(more) })).toBe('success')
})

// ---- pairings

const precompileCall = (address: number): string => `365f5f3760205f365f${push(address)}5afa5f525a60205260405ff3`
it.each([
  ['Granite', granite, 112_687, 586],
  ['Jovian', jovian, 81_984, 427],
])('evm: ends pairings up to the limit of %s, and one more, like the reference', (_fork, rules, limit, pairs) => {
  expect(pairs * 192).toBeLessThanOrEqual(limit)
  for (const count of [pairs, pairs + 1])
    agree({ accounts: at(`0x${precompileCall(8)}`), data: new Uint8Array(count * 192), gas: 40_000_000n, rules })
})

// ---- codes

/**
 * Contract of 24 KB that calls a contract called nowhere else, the next link, and the first again. Then it jumps to the end of its own code and stores
 * the values it has read. So codes that are evicted lie between those of waiting frames, which are moved.
 */
function link(i: number, deepest: number): HostileAccount {
  const call = (to: number): string => `5f5f5f5f5f${push(BigInt(numbered(to)))}5af1`
  const calls = `${call(5_000 + i)}${i < deepest ? call(i + 1) : ''}${call(5_000 + i)}`
  // no constant, so that the jump target is looked up: the calldata is empty
  const head = `${push(i)}${calls}${push(24_500)}360156`
  const tail = `5b${push(64)}${push(24_000)}5f39${push(64)}5f20545a01${push(i + 1)}5500`
  const body = padded(head, '5f195b50', 24_500)
  return { address: numbered(i), code: `${padded(body.slice(2), '5b', 24_500)}${tail}` }
}
it('evm: runs codes that are evicted during other frames and loaded again like the reference', { timeout: 60_000 }, () => {
  const depth = 120
  const cold = Array.from({ length: depth + 1 }, (_, i) => ({
    address: numbered(5_000 + i),
    code: padded(`${push(i)}5c5000`, '5b5a50', 24_576),
  }))
  const accounts = [...Array.from({ length: depth + 1 }, (_, i) => link(i, depth)), ...cold]
  const parts = { accounts, to: numbered(0), gas: blockGas, rules: jovian }
  const expected = seen(attack(reference, parts))
  expect(expected).toMatchObject({ kind: 'success' })
  for (const codeBytes of [0, 2 ** 20, 2 ** 24]) {
    const evm = createWasmEvm({ codeBytes })
    // a second session finds the cache of the first one
    for (let i = 0; i < 2; i++) expect(seen(attack(evm, parts))).toEqual(expected)
  }
})

it('evm: opens as many frames with as much code of constants as 400 Mgas permit', { timeout: 60_000 }, () => {
  const constants = `5f19${'80'.repeat(63)}`
  const next = (to: number): string => `5f5f5f5f5f${push(BigInt(numbered(to)))}5af100`
  const codes = Array.from({ length: 300 }, (_, i) => ({ address: numbered(i), code: padded(`${next(i + 1)}${hex(i & 255)}${hex(i >> 8)}5b`, constants, 24_576) })) // biome-ignore format: one line
  const test = `5a${push(5_000_000)}10`
  const head = `${test}${push((test.length + next(0).length) / 2 + 3)}57${next(0)}5b385f5f39385f5ff000`
  for (const unit of sampleOf([constants], [constants, '5b', '5f19'])) {
    const initcode = fromHex(padded(`${head}5b`, unit, 49_152) as `0x${string}`)
    expect(survives({ accounts: codes, to: null, data: initcode, gas: blockGas })).toBe('success')
  }
})

// ---- delegations

it.each([
  ['to itself', [0]],
  ['to an account that delegates back', [1, 0]],
  ['along a chain', [1, 2, 3, 4, 9]],
  ['to a precompile', [-4]],
  ['to nobody', [77]],
])('evm: follows a delegation %s once (EIP-7702)', (_to, chain) => {
  const delegates = chain.map((to, i) => {
    const address = to < 0 ? `0x${(-to).toString(16).padStart(40, '0')}` : numbered(to)
    return { address: numbered(i), code: `0xef0100${address.slice(2)}` }
  })
  const end = { address: numbered(9), code: '0x5a5f5260205ff3' }
  const word = push(BigInt(numbered(0)))
  for (const op of ['f1', 'f2', 'f4', 'fa']) {
    const value = op === 'f1' || op === 'f2' ? '5f' : ''
    const calls = `60205f5f5f${value}${word}5a${op}6020525a604052${word}3b606052${word}3f6080526020${'5f60a0'}${word}3c60c05ff3`
    agree({ accounts: [...at(`0x${calls}`), end, ...delegates], gas: 500_000n })
    agree({ accounts: [...at(`0x${calls}`), end, ...delegates], gas: 4_000n })
  }
  agree({ accounts: [end, ...delegates], to: numbered(0), data: concatBytes(none, Uint8Array.of(1)), gas: 500_000n })
})
