import { keccak256Text } from '#lib/keccak'
import type { AccountHandle, NativeHost } from '../host.ts'
import { type AbiValue, encodeArguments, type Param, paramsOf, signatureOf } from './abi.ts'
import { newWord, type Word, wordOfBytes } from './word.ts'

/** Topics of the log that is being written. */
const topics: Word[] = [newWord(), newWord(), newWord(), newWord()]

/** An event of a contract. */
export class ContractEvent {
  readonly #topic: Word
  readonly #params: readonly Param[]

  /** @param declaration such as `Transfer(address indexed,address indexed,uint256)`; indexed parameters come first */
  constructor(declaration: string) {
    const plain = declaration.replaceAll(' indexed', '')
    const indexed = declaration.split(' indexed').length - 1
    this.#topic = wordOfBytes(keccak256Text(signatureOf(plain)))
    this.#params = paramsOf(plain).slice(indexed)
  }

  /** Emits the event with a word as its data, as transfers and approvals have it. */
  emitWord(host: NativeHost, account: AccountHandle, first: Word, second: Word, data: Word): void {
    topics[0] = this.#topic
    topics[1] = first
    topics[2] = second
    host.logWord(account, topics, data)
  }

  emit(host: NativeHost, account: AccountHandle, indexed: readonly Word[], ...values: readonly AbiValue[]): void {
    topics[0] = this.#topic
    for (const [i, word] of indexed.entries()) topics[i + 1] = word
    host.log(account, topics, indexed.length + 1, encodeArguments(this.#params, values))
  }
}
