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
  doc: 'Puts a signed transaction into the pool, or passes it on to the sequencer where one is set (--sequencer.http): its answer is then passed on as it is, an error with `data.hint` while this node is not synced. Where the way to the sequencer fails it goes out again for eight seconds.',
  params: [param('transaction', bytes)],
  result: sentResult,
  cost: 'submit',
  example: { params: ['0x1234'] },
  run: (context, raw) => submitRaw(context, raw),
})
