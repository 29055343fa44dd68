import { describe, expect, it } from 'vitest'
import type { NativeFork } from '#chainspec/evmRules'
import type { EvmSession, Outcome } from '#evm/ports'
import { concatBytes } from '#lib/bytes'
import { fromHex, toHex } from '#lib/hex'
import { type Address, parseAddress } from '#types/ids'
import { call, encode, errorData } from './abi.ts'
import { judgedNamed } from './judged.ts'
import { alice, bob, enough, openNative, send } from './tokens.ts'

const context = parseAddress(`0x8130${'00'.repeat(16)}aa02`)
const nonceManager = parseAddress(`0x8130${'00'.repeat(16)}aa01`)
const relay = parseAddress(`0x${'7e'.repeat(20)}`)
/** Calls the address in the first word with the rest of the call data, and returns its output. */
const relayCode = '0x6020360360206000376000600060203603600060006000355af1503d6000803e3d6000f3'

describe.each(judgedNamed(['wasm', 'traced', 'reference']))('b20/systemContracts: on $name', ({ evm }) => {
  const at = (fork: NativeFork, run: (session: EvmSession) => void): void => {
    using session = openNative(evm, fork)
    run(session)
  }
  const used = ({ gasLeft }: Outcome): bigint => enough - gasLeft

  it.each(['getTransactionSender()', 'getTransactionPayer()', 'getTransactionSenderActorId()'])(
    '%s is the origin, right-aligned, for 3 gas, also when a contract calls',
    (signature) => {
      at('cobalt', (session) => {
        session.setCode(relay, fromHex(relayCode))
        const direct = send(session, alice, context, call(signature))
        expect([direct.kind, toHex(direct.output), used(direct)]).toEqual(['success', toHex(encode(alice)), 3n])
        expect(toHex(send(session, alice, relay, concatBytes(encode(context), call(signature))).output)).toBe(toHex(encode(alice)))
      })
    },
  )

  it('a nonce is 0 under any key but that of the protocol, for one read of state', () => {
    at('denim', (session) => {
      const nonce = send(session, alice, nonceManager, call('getNonce(address,uint256)', bob, 7n))
      expect([nonce.kind, toHex(nonce.output), used(nonce)]).toEqual(['success', toHex(encode(0n)), 18n + 2_100n])
      const refused = send(session, alice, nonceManager, call('getNonce(address,uint256)', bob, 0n))
      expect([refused.kind, toHex(refused.output)]).toEqual(['revert', errorData('ProtocolNonceNotSupported()')])
    })
  })

  it.each<[string, Address]>([
    ['transaction context', context],
    ['nonce manager', nonceManager],
  ])('the %s is an empty account before Cobalt', (_name, address) => {
    at('beryl', (session) => {
      const outcome = send(session, alice, address, call('getTransactionSender()'))
      expect([outcome.kind, outcome.output.length, used(outcome)]).toEqual(['success', 0, 0n])
    })
  })
})
