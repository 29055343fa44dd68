import { flag, quantity } from '../../codecs/values.ts'
import { ethMethod } from '../define.ts'

export const listening = ethMethod({
  name: 'net_listening',
  doc: 'Always true, as wallets expect.',
  params: [],
  result: flag,
  cost: 'instant',
  example: { params: [], result: true },
  run: () => true,
})

export const peerCount = ethMethod({
  name: 'net_peerCount',
  doc: 'Number of peers. Always 0: there is no peer-to-peer network yet.',
  params: [],
  result: quantity,
  cost: 'instant',
  example: { params: [], result: '0x0' },
  run: () => 0,
})
