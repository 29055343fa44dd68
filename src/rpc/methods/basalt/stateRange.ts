import { fromHex, toHex } from '#lib/hex'
import type { Hash } from '#types/ids'
import type { ProvedLeaves } from '#types/worldReads'
import { blockId } from '../../codecs/blockId.ts'
import { hash } from '../../codecs/values.ts'
import type { EthContext } from '../../context.ts'
import { invalidParams } from '../../errors.ts'
import type { Json } from '../../json.ts'
import { list, nullable, object, refTo } from '../../reference/schemas.ts'
import { type Method, optionalParam, type ParamCodec, param, type ResultCodec } from '../../registry.ts'
import { ethMethod } from '../define.ts'
import { onState } from '../eth/atBlock.ts'

/** Bounds of one answer: a leaf of an account has some 105 bytes, that of a slot 65 at most. */
const limits = { leaves: 1_024, bytes: 131_072 }

const noOwner: ParamCodec<Hash | undefined> = {
  doc: 'keccak of an account, for the slots of its storage; null: the accounts',
  schema: nullable(refTo('Hash')),
  parse: (value) => (value === null ? undefined : hash.parse(value)),
}

const rangeResult: ResultCodec<ProvedLeaves> = {
  doc: 'leaves with the nodes that prove them; `isWhole` is false when the range continues after the last leaf',
  schema: object('range of a trie', {
    root: refTo('Hash'),
    leaves: list(
      object('leaf: hashed key, and RLP of the account or of the value of the slot', { key: refTo('Hash'), value: refTo('Bytes') }),
    ),
    proof: list(refTo('Bytes')),
    isWhole: { type: 'boolean' },
  }),
  encode: ({ root, leaves, proof, isWhole }): Json => ({
    root,
    leaves: leaves.map(({ key, value }) => ({ key: toHex(key), value: toHex(value) })),
    proof: proof.map(toHex),
    isWhole,
  }),
}

const zeros: Json = `0x${'00'.repeat(32)}`
const ones: Json = `0x${'ff'.repeat(32)}`

const stateRange = ethMethod({
  name: 'basalt_stateRange',
  doc: `Leaves of the state after a block whose hashed keys are in a range, ascending: all accounts, or all slots of one. At most ${limits.leaves} leaves and some ${limits.bytes} bytes; a caller continues after the last key. The nodes prove that no leaf is missing: from the root to \`first\`, and to \`last\` or the last leaf.`,
  params: [param('block', blockId), param('first', hash), param('last', hash), optionalParam('account', noOwner, undefined, 'null')],
  result: rangeResult,
  cost: 'block-read',
  example: { params: ['latest', zeros, ones] },
  run(context, at, first, last, owner): ProvedLeaves {
    if (first > last) throw invalidParams('first is after last')
    return onState(context, at, (state) => state.leaves(owner, { first: fromHex(first), last: fromHex(last) }, limits))
  },
})

/** `basalt_*`: methods of this client alone. */
export const basaltMethods: readonly Method<EthContext>[] = [stateRange]
