import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { type Message, MissingState, type StateView } from '#evm/ports'
import { createWasmEvm } from '#evm/wasmEvm'
import { fromHex } from '#lib/hex'
import { addressOf, callTo, prague, push, storeIn, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import type { Address } from '#types/ids'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const other = addressOf(0x33)

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Code of a run, and its number in a thousand runs. */
const codes: readonly (readonly [code: string, often: number])[] = [
  [`${push(7)}${storeIn(1)}${push(1)}${push(2)}${push(32)}${push(0)}a2${push(1)}${push(2)}5d00`, 500],
  [`${push(7)}${storeIn(1)}${callTo(other)}${push(32)}${push(0)}fd`, 300],
  [`${push(3)}${storeIn(9)}fe`, 100],
  // creates a contract with one byte of code
  [`${push('0x60016000f3')}${push(0)}52${push(5)}${push(27)}${push(1)}f0${storeIn(3)}00`, 60],
  // SHA-256 of 4 KiB, and 4 KiB of output
  [`${push(32)}${push(0)}${push(4096)}${push(0)}${push(0)}${push(`0x${'02'.padStart(40, '0')}`)}5af1${push(4096)}${push(0)}f3`, 30],
  // 1 MiB of memory
  [`${push(1)}${push(0xfffe0)}5200`, 8],
  // calls itself until the depth limit
  [`${callTo(contract)}00`, 2],
]

const worlds = codes.map(([code]) => createWorld({ [contract]: testAccount({ code: `0x${code}`, balance: '0x9' }), [other]: testAccount({ code: '0x600160005500' }) }).view) // biome-ignore format: one line

const chosen = codes.flatMap(([, often], i) => new Array<number>(often).fill(i))

/** View without one account: a session stops in the middle of a message. */
const lacking = (view: StateView, of: number): StateView => ({
  ...view,
  account(addressKey): ReturnType<StateView['account']> {
    if (of-- === 0) throw new MissingState({ kind: 'account', addressKey })
    return view.account(addressKey)
  },
})

const message: Message = { caller: sender, to: contract, value: 0n, data: fromHex('0x00'), gas: 4_000_000n }

it('evm/wasm: does not grow heap or memory over 100,000 runs in disposed sessions', { timeout: 120_000 }, () => {
  const evm = createWasmEvm()
  const run = (count: number): NodeJS.MemoryUsage => {
    for (let i = 0; i < count; i++) {
      const view = worlds[chosen[(i * 617) % 1_000] ?? 0]
      if (!view) throw new Error('no world')
      using session = evm.open(i % 50 === 0 ? lacking(view, i % 3) : view, testBlock, prague)
      session.beginTransaction(testTransaction(sender))
      try {
        session.run(message)
        session.addBalance(`0x${(i % 7_919).toString(16).padStart(40, '0')}` as Address, 1n)
        session.endTransaction()
        if (i % 10 === 0) session.diff()
      } catch (error) {
        if (!(error instanceof MissingState)) throw error
      }
    }
    collect()
    return process.memoryUsage()
  }
  const before = run(20_000)
  const after = run(100_000)
  const mebibyte = 2 ** 20
  expect(after.heapUsed - before.heapUsed).toBeLessThan(4 * mebibyte)
  // buffers of diffs are freed some time after the collection; a leak of the interpreter's memory would be larger
  expect(after.external - before.external).toBeLessThan(8 * mebibyte)
  expect(after.rss - before.rss).toBeLessThan(24 * mebibyte)
})
