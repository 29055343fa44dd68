import { type EvmFork, evmForks } from '#chainspec/evmRules'
import { fromHex, type Hex, toHex, toQuantity } from '#lib/hex'
import { parseAddress, parseHash } from '#types/ids'
import type { CaseMessage, EvmCase } from './case.ts'

/** Case in its file format: quantities and bytes in hex, slots by number. */
export type EvmCaseFile = {
  /** The difference that the case showed, or its purpose. */
  readonly about: string
  readonly fork: EvmFork
  readonly accounts: Readonly<
    Record<string, { readonly nonce: Hex; readonly balance: Hex; readonly code: Hex; readonly storage: Readonly<Record<string, Hex>> }>
  >
  readonly messages: readonly {
    readonly from: string
    readonly to: string | null
    readonly value: Hex
    readonly data: Hex
    readonly gas: Hex
    readonly warm?: readonly { readonly address: string; readonly slots: readonly string[] }[]
    readonly blobHashes?: readonly string[]
    readonly setCode?: { readonly of: string; readonly code: Hex }
  }[]
}

/** Converts a case to its file format. @param about the difference that the case showed, or its purpose */
export function fileOfCase(about: string, { fork, accounts, messages }: EvmCase): EvmCaseFile {
  return {
    about,
    fork,
    accounts: Object.fromEntries(
      [...accounts].map(([address, { nonce, balance, code, storage }]) => [
        address,
        {
          nonce: toQuantity(nonce),
          balance: toQuantity(balance),
          code: toHex(code),
          storage: Object.fromEntries([...storage].map(([slot, value]) => [toQuantity(slot), toQuantity(value)])),
        },
      ]),
    ),
    messages: messages.map(({ from, to, value, data, gas, warm, blobHashes, setCode }) => ({
      from,
      to,
      value: toQuantity(value),
      data: toHex(data),
      gas: toQuantity(gas),
      ...(warm && { warm }),
      ...(blobHashes && { blobHashes }),
      ...(setCode && { setCode: { of: setCode.of, code: toHex(setCode.code) } }),
    })),
  }
}

/** Parses a case. Throws RangeError for an invalid one. */
export function caseOfFile({ fork, accounts, messages }: EvmCaseFile): EvmCase {
  if (!evmForks.includes(fork)) throw new RangeError(`unknown fork ${fork}`)
  return {
    fork,
    accounts: new Map(
      Object.entries(accounts).map(([address, { nonce, balance, code, storage }]) => [
        parseAddress(address),
        {
          nonce: BigInt(nonce),
          balance: BigInt(balance),
          code: fromHex(code),
          storage: new Map(Object.entries(storage).map(([slot, value]) => [BigInt(slot), BigInt(value)])),
        },
      ]),
    ),
    messages: messages.map(
      ({ from, to, value, data, gas, warm, blobHashes, setCode }): CaseMessage => ({
        from: parseAddress(from),
        to: to === null ? null : parseAddress(to),
        value: BigInt(value),
        data: fromHex(data),
        gas: BigInt(gas),
        ...(warm && { warm: warm.map(({ address, slots }) => ({ address: parseAddress(address), slots: slots.map(parseHash) })) }),
        ...(blobHashes && { blobHashes: blobHashes.map(parseHash) }),
        ...(setCode && { setCode: { of: parseAddress(setCode.of), code: fromHex(setCode.code) } }),
      }),
    ),
  }
}
