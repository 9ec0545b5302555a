/** What an asset of an unknown extension is taken for (assumed). */
const anyBytes = "application/octet-stream";

const office = "application/vnd.openxmlformats-officedocument";

/** Registered content types of the extensions that go with messages. */
const byExtension: Readonly<Record<string, string>> = {
  "3gp": "video/3gpp",
  aac: "audio/aac",
  avi: "video/x-msvideo",
  avif: "image/avif",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  doc: "application/msword",
  docx: `${office}.wordprocessingml.document`,
  gif: "image/gif",
  gz: "application/gzip",
  heic: "image/heic",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  log: "text/plain",
  m4a: "audio/mp4",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  odp: "application/vnd.oasis.opendocument.presentation",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odt: "application/vnd.oasis.opendocument.text",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  ppt: "application/vnd.ms-powerpoint",
  pptx: `${office}.presentationml.presentation`,
  rtf: "application/rtf",
  svg: "image/svg+xml",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain",
  vcf: "text/vcard",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xls: "application/vnd.ms-excel",
  xlsx: `${office}.spreadsheetml.sheet`,
  xml: "application/xml",
  zip: "application/zip",
};

/** The extension of a file name in lower case, without the dot; undefined where it has none. */
export const fileExtension = (name: string): string | undefined =>
  /[^./\\]\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1]?.toLowerCase();

/** The content type that the service derives from the extension of a file name (assumed). */
export const assetContentType = (name: string): string => {
  const extension = fileExtension(name) ?? "";
  return (Object.hasOwn(byExtension, extension) && byExtension[extension]) || anyBytes;
};
