import type { Options } from 'minisearch'

/** A part of a page under one heading. */
export type Section = {
  /** path of the page under the version, with the anchor of the heading */
  readonly id: string
  /** title of the page */
  readonly page: string
  readonly heading: string
  readonly text: string
}

/** Options of the search index, the same when it is made and when it is loaded. */
export const indexOptions: Options<Section> = {
  fields: ['heading', 'page', 'text'],
  storeFields: ['page', 'heading'],
  searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: (term) => (term.length > 5 ? 0.15 : false), combineWith: 'AND' },
}
