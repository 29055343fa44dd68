import { expect, it } from 'vitest'
import type { Evm } from '#evm/ports'
import { addressOf, cancun, testAccount, testBlock, testTransaction } from '#test/harness/evm/host'
import { createWorld } from '#test/vectors/stateTestWorld'
import { zeroHash } from '#types/ids'

const sender = addressOf(0x11)
const contract = addressOf(0x22)
const gas = 100_000n

/** Tests of the cost and refund of SSTORE. */
export function evmStorageContract(name: string, evm: Evm): void {
  // test cases of EIP-3529: code, gas used, refund, value of slot 0 before; the slot is warm
  it.each<[string, bigint, bigint, number]>([
    ['60006000556000600055', 212n, 0n, 0],
    ['60006000556001600055', 20_112n, 0n, 0],
    ['60016000556000600055', 20_112n, 19_900n, 0],
    ['60016000556002600055', 20_112n, 0n, 0],
    ['60016000556001600055', 20_112n, 0n, 0],
    ['60006000556000600055', 3_012n, 4_800n, 1],
    ['60006000556001600055', 3_012n, 2_800n, 1],
    ['60006000556002600055', 3_012n, 0n, 1],
    ['60026000556000600055', 3_012n, 4_800n, 1],
    ['60026000556003600055', 3_012n, 0n, 1],
    ['60026000556001600055', 3_012n, 2_800n, 1],
    ['60026000556002600055', 3_012n, 0n, 1],
    ['60016000556000600055', 3_012n, 4_800n, 1],
    ['60016000556002600055', 3_012n, 0n, 1],
    ['60016000556001600055', 212n, 0n, 1],
    ['600160005560006000556001600055', 40_118n, 19_900n, 0],
    ['600060005560016000556000600055', 5_918n, 7_600n, 1],
  ])(`evm ${name}: SSTORE %s costs %d and refunds %d when the slot was %d (EIP-3529)`, (code, used, refund, before) => {
    const pre = { [contract]: testAccount({ code: `0x${code}`, storage: { '0x0': `0x${before}` } }) }
    using session = evm.open(createWorld(pre).view, testBlock, cancun)
    session.beginTransaction({ ...testTransaction(sender), warm: [{ address: contract, slots: [zeroHash] }] })
    const outcome = session.run({ caller: sender, to: contract, value: 0n, data: new Uint8Array(0), gas })
    expect(outcome).toMatchObject({ kind: 'success', gasLeft: gas - used, gasRefund: refund })
  })

  it.each([
    [2_300n + 6n, 'halt'],
    [2_300n + 7n, 'success'],
  ])(`evm ${name}: SSTORE with %d gas left ends with %s (EIP-2200)`, (available, kind) => {
    const pre = { [contract]: testAccount({ code: '0x60006000556000' }) }
    using session = evm.open(createWorld(pre).view, testBlock, cancun)
    session.beginTransaction({ ...testTransaction(sender), warm: [{ address: contract, slots: [zeroHash] }] })
    expect(session.run({ caller: sender, to: contract, value: 0n, data: new Uint8Array(0), gas: available }).kind).toBe(kind)
  })
}
