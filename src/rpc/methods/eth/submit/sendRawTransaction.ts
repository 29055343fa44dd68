import { bytes } from '../../../codecs/values.ts'
import type { Json } from '../../../json.ts'
import { param, type ResultCodec } from '../../../registry.ts'
import { refTo } from '../../../schemas.ts'
import { ethMethod } from '../../define.ts'
import { submitRaw } from './sendRawSubmit.ts'

export const sentResult: ResultCodec<Json> = {
  doc: '32 bytes in hex: the hash of the transaction',
  schema: refTo('Hash'),
  encode: (value) => value,
}

export const sendRawTransaction = ethMethod({
  name: 'eth_sendRawTransaction',
  doc: 'Submits a signed transaction to the pool, or to the sequencer when one is set (--sequencer.http). The answer of the sequencer is returned unchanged; an error has `data.hint` while this node is not synced. When the connection to the sequencer fails, the node retries for eight seconds.',
  params: [param('transaction', bytes)],
  result: sentResult,
  cost: 'submit',
  example: { params: ['0x1234'] },
  run: (context, raw) => submitRaw(context, raw),
})
